import type { DrawnCard, Layout, PlacedCard, PlacedGroup } from './generate.types.ts';

const CARD = { width: 160, height: 50 };
const GAP = 12;
const HEADER = 32;
const MARGIN = 40;
const TITLE = 60;
/** Maximum number of cards per row in a frame. */
const ACROSS = 4;
/** Maximum width of a row of frames. */
const PAGE = 1_500;

/** The cards of one group; `card` is null for cards without a group. */
export interface CardGroup {
  card: DrawnCard | null;
  label: string;
  cards: DrawnCard[];
}

/** Lays out frames in rows, each with its cards in a nearly square grid. */
export function layoutGroups(groups: readonly CardGroup[]): Layout {
  const layout: { groups: PlacedGroup[]; cards: PlacedCard[] } = { groups: [], cards: [] };
  let [x, y, tallest] = [MARGIN, MARGIN + TITLE, 0];
  for (const { card, label, cards } of groups) {
    const across = Math.min(ACROSS, Math.max(1, Math.ceil(Math.sqrt(cards.length))));
    const rows = Math.max(1, Math.ceil(cards.length / across));
    const width = across * (CARD.width + GAP) + GAP;
    const height = HEADER + rows * (CARD.height + GAP) + GAP;
    if (x > MARGIN && x + width > PAGE) {
      [x, y, tallest] = [MARGIN, y + tallest + 2 * GAP, 0];
    }
    const within = layout.groups.length;
    layout.groups.push({ card, label, x, y, width, height });
    for (const [at, inner] of cards.entries()) {
      layout.cards.push({
        card: inner,
        within,
        ...CARD,
        x: GAP + (at % across) * (CARD.width + GAP),
        y: HEADER + GAP + Math.floor(at / across) * (CARD.height + GAP),
      });
    }
    x += width + 2 * GAP;
    tallest = Math.max(tallest, height);
  }
  return { ...layout, edges: [] };
}
