// Shell programs are imported as text: `import text from "./boot.sh" with { type: "text" }`.
declare module "*.sh" {
  const text: string;
  export default text;
}
declare module "*.zsh" {
  const text: string;
  export default text;
}
