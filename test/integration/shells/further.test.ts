// The suites of exec again with the shells of TRL_TEST_SHELLS, such as an old bash, as `bash` or as `sh`.
import { runWithFurtherShells } from "../../support/shells.ts";

runWithFurtherShells(["exec/shell-state", "exec/programs", "exec/line-state", "exec/line-variables"]);
