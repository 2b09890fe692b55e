/** The word by which the daemon starts trl as its screen process. */
export const screenProcessWord = "__screens";
