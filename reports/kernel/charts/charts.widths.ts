/**
 * Widths of the characters U+0020 to U+007E in thousandths of the font size: of Inter, or of Helvetica where it is wider, which
 * is the second choice.
 */
const regular = [
  281, 288, 466, 633, 642, 982, 667, 300, 365, 365, 501, 662, 288, 460, 288, 360, 631, 556, 610, 618, 646,
  593, 620, 566, 619, 620, 288, 302, 662, 662, 662, 556, 1015, 690, 667, 730, 722, 667, 611, 778, 743, 278,
  571, 672, 565, 903, 753, 778, 667, 778, 722, 667, 646, 744, 690, 985, 682, 679, 629, 365, 360, 365, 471,
  556, 333, 562, 612, 571, 612, 583, 370, 613, 591, 242, 242, 549, 242, 876, 591, 600, 612, 612, 376, 528,
  327, 591, 562, 818, 546, 562, 552, 426, 333, 426, 662,
];
const bold = [
  294, 321, 523, 644, 650, 1004, 707, 326, 373, 373, 540, 673, 319, 465, 319, 379, 660, 589, 623, 636, 666,
  612, 640, 589, 640, 640, 319, 329, 673, 673, 673, 589, 1075, 728, 707, 765, 765, 707, 647, 824, 765, 294,
  580, 707, 589, 922, 765, 824, 707, 824, 765, 707, 660, 765, 728, 1020, 720, 713, 652, 373, 379, 373, 481,
  589, 352, 589, 624, 583, 624, 591, 389, 625, 612, 262, 262, 569, 262, 900, 612, 609, 624, 624, 397, 549,
  353, 612, 587, 839, 569, 588, 566, 455, 359, 455, 673,
];
/** Common characters beyond, of both weights. */
const others: Record<string, number> = {
  '…': 1000,
  '–': 556,
  '−': 680,
  '€': 680,
  '£': 640,
  '·': 320,
  '→': 960,
  '←': 960,
};
/** Other letters; those from U+2E80 on are wide. */
const LETTER = 660;
const WIDE = { from: 0x2e80, width: 1_100 };
/** Weight from which a text counts as bold. */
const BOLD = 550;

/** The width of a text in pixels; an upper bound for the fonts of charts. */
export function textWidth(text: string, size: number, weight = 400): number {
  const table = weight >= BOLD ? bold : regular;
  let width = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0)!;
    width += table[code - 32] ?? others[letter] ?? (code >= WIDE.from ? WIDE.width : LETTER);
  }
  return Math.ceil((width * size) / 1000);
}
