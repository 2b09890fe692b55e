// Finds the packages that provide missing requirements, and hints for those without a package.
import {
  findProgram,
  problemOf,
  type RequirementName,
  requirements,
} from "../../test/support/requirements.ts";

export type Manager = "apt" | "brew";

export function packageManager(): Manager | undefined {
  if (process.platform === "darwin") return "brew";
  return findProgram("apt-get") ? "apt" : undefined;
}

export function packagesFor(names: RequirementName[], manager: Manager): string[] {
  return [...new Set(names.flatMap((name) => requirements[name][manager] ?? []))].sort();
}

/** Lines for the end of a run: the command that installs the packages, and the other hints. */
export function setupHint(names: RequirementName[]): string[] {
  const byPackage = names.filter((name) => problemOf(name)?.isPackage);
  const packages = packagesFor(byPackage, packageManager() ?? "apt");
  const hints = names.flatMap((name) => {
    const { hint } = requirements[name];
    return hint && !byPackage.includes(name) ? [`  ${name}: ${hint}`] : [];
  });
  return [
    ...(packages.length > 0 ? [`npm run test:setup provides: ${packages.join(" ")}`] : []),
    ...(hints.length > 0 ? ["no package provides:", ...hints] : []),
  ];
}
