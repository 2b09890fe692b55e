/** The first argument with which the daemon starts trl as its screen process. */
export const screenProcessCommand = "__screens";
