/** What is drawn. */

import fc from 'fast-check';
import { cardsOf, readDrawing } from '../../../../domain/modelling/diagrams/drawing.work.ts';
import { textOn } from '../../../../reports/kernel/charts/charts.colours.ts';
import { schemes } from '../../../../reports/kernel/charts/charts.tokens.ts';
import { layoutLayers } from '../../../../reports/modelling/diagrams/generate.layers.ts';
import { layoutGroups } from '../../../../reports/modelling/diagrams/generate.shelves.ts';
import { drawnXml } from '../../../../reports/modelling/diagrams/generate.ts';
import type { Box, DrawnCard, Layout } from '../../../../reports/modelling/diagrams/generate.types.ts';
import { drawingFaults } from '../../../support/drawio.ts';
import { forAll } from '../../../support/property.ts';

const card = (n: number, name = `Card ${n}`): DrawnCard => ({
  id: `0190a000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  name,
  type: n % 2 ? 'Application' : 'ITComponent',
});
const look = {
  title: 'A & <B>',
  color: () => '#0f7eb5',
  typeLabel: (key: string) => key,
  relationLabel: () => 'uses',
};
const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** Boxes of one parent never lie over each other, and those in a frame lie within it. */
function expectTidy({ groups, cards }: Layout): void {
  const sets = [groups, ...groups.map((_, at) => cards.filter(({ within }) => within === at))];
  for (const set of groups.length > 0 ? sets : [cards]) {
    for (const [at, box] of set.entries()) {
      expect(Number.isInteger(box.x) && Number.isInteger(box.y)).toBe(true);
      for (const other of set.slice(at + 1)) expect(overlap(box, other)).toBe(false);
    }
  }
  for (const { within, x, y, width, height } of cards) {
    if (within === undefined) continue;
    const frame = groups[within]!;
    expect(x >= 0 && x + width <= frame.width && y >= 32 && y + height <= frame.height).toBe(true);
  }
}

it('stands in columns by its distance from the middle', () => {
  const relation = (source: number, target: number) => ({
    source: card(source).id,
    target: card(target).id,
    type: 'r',
  });
  const layout = layoutLayers(
    [card(0), card(1), card(2), card(3)],
    [relation(0, 1), relation(1, 2), relation(3, 0)],
  );
  const x = layout.cards.map((placed) => placed.x);
  expect(x[3]! < x[0]! && x[0]! < x[1]! && x[1]! < x[2]!).toBe(true);
  expectTidy(layout);
});

it('never overlaps, names all of its cards, and can be read again', () => {
  const graph = fc
    .integer({ min: 1, max: 60 })
    .chain((count) =>
      fc.tuple(
        fc.constant(count),
        fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 120 }),
      ),
    );
  forAll(40, [graph, fc.string({ unit: 'grapheme', maxLength: 20 })], ([count, pairs], name) => {
    const cards = Array.from({ length: count }, (_, n) => card(n, n === 0 ? name : undefined));
    const relations = pairs.map(([a, b]) => ({ source: cards[a]!.id, target: cards[b]!.id, type: 'r' }));
    const layout = layoutLayers(cards, relations);
    expectTidy(layout);
    const xml = drawnXml(layout, look);
    expect(drawingFaults(xml)).toEqual([]);
    expect(cardsOf(readDrawing(xml)).sort()).toEqual(cards.map(({ id }) => id));
    expect(layout.edges).toHaveLength(relations.length);
  });
  forAll(40, [fc.array(fc.nat(30), { minLength: 1, maxLength: 20 })], (sizes) => {
    const groups = sizes.map((size, at) => ({
      card: at === 0 ? null : card(1_000 + at),
      label: 'None',
      cards: Array.from({ length: size }, (_, n) => card(n)),
    }));
    const layout = layoutGroups(groups);
    expectTidy(layout);
    const xml = drawnXml(layout, look);
    expect(drawingFaults(xml)).toEqual([]);
    readDrawing(xml);
  });
});

it('is refused as a drawing where it would not open', () => {
  const xml = drawnXml(
    layoutLayers([card(0), card(1)], [{ source: card(0).id, target: card(1).id, type: 'r' }]),
    look,
  );
  expect(drawingFaults(xml)).toEqual([]);
  expect(drawingFaults(xml.replace('id="card-1"', 'id="card-0"')).join()).toMatch(
    /no id of its own.*no target/,
  );
  expect(drawingFaults(xml.replace('source="card-0"', 'source="x"'))).toEqual(['edge edge-0 has no source']);
  expect(drawingFaults(xml.replaceAll(/ x="[0-9]+"/g, ' x="0"'))).toHaveLength(1);
});

it('is written in the ink that is read best', () =>
  expect([
    textOn('#ffffff', schemes.light),
    textOn('#000000', schemes.light),
    textOn('#fbc02d', schemes.light),
    textOn('#1a237e', schemes.light),
  ]).toEqual(['#1a1b1f', '#ffffff', '#1a1b1f', '#ffffff']));
