import fc from 'fast-check';
import {
  bundledCatalogue,
  type CatalogueKind,
  catalogueKinds,
  localised,
  nodesOf,
  nodesOfCsv,
  readNodes,
  withAncestors,
} from '../../../../domain/inventory/reference/reference.rules.ts';
import { forAll } from '../../../support/property.ts';

const kinds = Object.keys(catalogueKinds) as CatalogueKind[];

describe('the bundled catalogues', () => {
  it('hold as many nodes as promised, on so many levels', () => {
    const sizes = kinds.map((kind) => {
      const { nodes } = bundledCatalogue(kind);
      return [nodes.length, Math.max(...nodes.map(({ level }) => level))];
    });
    expect(sizes).toEqual([
      [165, 3],
      [65, 2],
      [12, 1],
    ]);
  });

  it.each(kinds)('%s: fits its own rules, in two languages, with no name twice in one place', (kind) => {
    const { nodes } = bundledCatalogue(kind);
    expect(readNodes(nodes, 'nodes')).toEqual(nodes);
    for (const language of ['en', 'de']) {
      const places = nodes.map(({ names, parent_id }) => `${parent_id}/${names[language]!.toLowerCase()}`);
      expect(new Set(places).size).toBe(nodes.length);
    }
  });

  it('are written as indented lines', () =>
    expect(
      nodesOf('\n1 Top | Oben\n  2 Below | Unten\n    3 Last | Letztes\n4 Other | Anderes\n', 'X'),
    ).toMatchObject([
      { id: 'X-1', parent_id: null, level: 1, names: { en: 'Top', de: 'Oben' } },
      { id: 'X-1.2', parent_id: 'X-1', level: 2 },
      { id: 'X-1.2.3', parent_id: 'X-1.2', level: 3 },
      { id: 'X-4', parent_id: null, level: 1 },
    ]));
});

describe('a chosen part of a catalogue', () => {
  const { nodes } = bundledCatalogue('capability');
  it('has all above it, level by level, and nothing else', () => {
    const { levels, unknown } = withAncestors(nodes, ['BC-400.10.20', 'BC-400', 'X']);
    const ids = levels.map((level) => level.map(({ id }) => id));
    expect(ids).toEqual([['BC-400'], ['BC-400.10'], ['BC-400.10.20']]);
    expect(unknown).toEqual(['X']);
  });

  it('always holds the parent of what it holds', () =>
    forAll(50, [fc.subarray(nodes.map(({ id }) => id))], (chosen) => {
      const { levels, unknown } = withAncestors(nodes, chosen);
      const found = new Set(levels.flat().map(({ id }) => id));
      expect(unknown).toEqual([]);
      for (const id of chosen) expect(found).toContain(id);
      for (const { parent_id } of levels.flat()) if (parent_id) expect(found).toContain(parent_id);
      for (const id of found) expect(chosen.some((one) => one === id || one.startsWith(`${id}.`))).toBe(true);
    }));
});

describe('a catalogue that is loaded', () => {
  const codes = (given: Parameters<typeof readNodes>[0]) =>
    (readNodes(given, 'nodes') as { field: string; code: string }[]).map(
      ({ field, code }) => `${field} ${code}`,
    );

  it('is refused by entry and member', () => {
    const names = { en: 'A' };
    expect(
      codes([
        { id: 'a', names },
        { id: 'a', names },
      ]),
    ).toEqual(['nodes.1.id duplicate']);
    expect(
      codes([
        { id: 'a', parent_id: 'b', names },
        { id: 'b', names },
      ]),
    ).toEqual(['nodes.0.parent_id unknown_value']);
    expect(codes([{ id: 'a', names: { de: 'A' } }])).toEqual(['nodes.0.names required']);
    expect(codes([{ id: 'a', names: { en: 'A\nB' } }])[0]).toContain('nodes.0.names.en');
    const chain = Array.from({ length: 7 }, (_, n) => ({
      id: `${n}`,
      parent_id: n ? `${n - 1}` : null,
      names,
    }));
    expect(codes(chain)).toEqual(['nodes.6.parent_id too_deep']);
  });

  it('may be a table', () => {
    const table = '\uFEFFid;parent_id;name;name.de;industry\r\nA;;Top;Oben;\r\nA.1;A;"Be;low";;Banking\r\n';
    expect(nodesOfCsv(table, 'BusinessProcess')).toEqual([
      { id: 'A', parent_id: null, names: { en: 'Top', de: 'Oben' }, descriptions: {} },
      { id: 'A.1', parent_id: 'A', names: { en: 'Be;low' }, descriptions: {}, industry: 'Banking' },
    ]);
    for (const wrong of ['id,colour\n1,2\n', 'id,id\n1,2\n', 'id,name\n1\n', 'id,name\n1,"2\n'])
      expect(() => nodesOfCsv(wrong, 'BusinessProcess')).toThrow();
  });

  it('is told in the language asked for, else in English', () => {
    const names = { en: 'Colour', de: 'Farbe', 'en-US': 'Color' };
    const texts = ['de', 'de-AT', 'en-US', 'fr', 'constructor'].map((locale) => localised(names, locale));
    expect(texts).toEqual(['Farbe', 'Farbe', 'Color', 'Colour', 'Colour']);
  });
});
