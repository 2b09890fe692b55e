/** The program that runs, whatever has become of its file. */
export const ownFile = "/proc/self/exe";
