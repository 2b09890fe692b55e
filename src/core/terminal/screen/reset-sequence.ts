/** Brings any terminal, whatever it showed before, to where a redraw can begin. Its own history is left alone. */
export const resetSequence =
  "\x1b[?1049l\x1b[!p\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026;45;66;6;1l" +
  "\x1b[4l\x1b[?7h\x1b[?25h\x1b[0 q\x1b[r\x1b(B\x0f\x1b[0m\x1b[H\x1b[2J";
