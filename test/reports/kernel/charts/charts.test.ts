import fc from 'fast-check';
import { landscapeChart } from '../../../../reports/inventory/landscape/landscape.report.ts';
import { scaleOf } from '../../../../reports/kernel/charts/charts.bubbles.ts';
import { drawChart } from '../../../../reports/kernel/charts/charts.draw.ts';
import { placeNames } from '../../../../reports/kernel/charts/charts.names.ts';
import {
  formatDate,
  formatValue,
  plain,
  shorten,
  textWidth,
  wrap,
} from '../../../../reports/kernel/charts/charts.text.ts';
import {
  BACKGROUND_COLOR,
  contrast,
  OTHERS,
  PALETTE,
  SHADES,
  TEXT_COLOR,
  textColorOn,
} from '../../../../reports/kernel/charts/charts.theme.ts';
import { divideArea } from '../../../../reports/kernel/charts/charts.treemap.ts';
import type { Chart, TreemapChart } from '../../../../reports/kernel/charts/charts.types.ts';
import { seededMetamodel } from '../../../domain/inventory/cards/seeded-metamodel.ts';
import { forAll } from '../../../support/property.ts';
import { circlesOf, meeting, readPicture } from './boxes.ts';
import { hostile, names, samples } from './samples.ts';

const workspace = { currency: 'EUR', dateFormat: 'DD.MM.YYYY' };
const kinds = Object.keys(samples(1)) as (keyof ReturnType<typeof samples>)[];

describe.each(kinds)('a picture of kind %s', (kind) => {
  it.each([0, 1, 10, 200])('shows %i items without labels that meet or leave it', (count) => {
    const { texts, width, height, elements, attributes } = readPicture(
      drawChart(samples(count)[kind], workspace),
    );
    expect(texts.length).toBeGreaterThan(0);
    expect(meeting(texts)).toEqual([]);
    for (const box of texts) {
      expect(box.x, box.text).toBeGreaterThanOrEqual(0);
      expect(box.y, box.text).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width, box.text).toBeLessThanOrEqual(width);
      expect(box.y + box.height, box.text).toBeLessThanOrEqual(height);
    }
    // nothing that a name says has become markup
    for (const name of ['script', 'image', 'style', 'foreignObject', 'a'])
      expect(elements).not.toContain(name);
    for (const name of attributes) expect(name).not.toMatch(/^on|href$/);
  });

  it('is the same for the same answer, and says what it shows', () => {
    const chart = samples(10)[kind];
    const svg = drawChart(chart, workspace);
    expect(drawChart(chart, workspace)).toBe(svg);
    expect(svg).toContain(`role="img" aria-label="${chart.title}"`);
    expect(svg).toContain(`<title>${chart.title}</title>\n<desc>`);
  });
});

describe('pictures', () => {
  it('have colours that can be told from the paper, and texts that can be read', () => {
    for (const color of [...PALETTE, OTHERS])
      expect(contrast(color, BACKGROUND_COLOR), color).toBeGreaterThanOrEqual(4.5);
    for (const color of SHADES) {
      expect(contrast(color, BACKGROUND_COLOR), color).toBeGreaterThanOrEqual(3);
      expect(contrast(color, textColorOn(color)), color).toBeGreaterThanOrEqual(4.5);
    }
    // by the definition of WCAG: black on white is 21, and this grey is the lightest that passes
    expect([
      contrast('#000000', BACKGROUND_COLOR),
      contrast('#777777', BACKGROUND_COLOR) < 4.5,
      contrast('#767676', BACKGROUND_COLOR) >= 4.5,
    ]).toEqual([21, true, true]);
    const known = new Set([BACKGROUND_COLOR, TEXT_COLOR, '#000000']);
    for (const kind of kinds) {
      const { texts } = readPicture(drawChart(samples(10)[kind], workspace));
      for (const { fill } of texts) expect(known, `${kind} ${fill}`).toContain(fill);
    }
  });

  it.each(['bubbles', 'amounts', 'graph'] as const)(
    'of kind %s name circles and hide none of them',
    (kind) => {
      for (const count of [10, 200]) {
        const svg = drawChart(samples(count)[kind], workspace);
        const circles = circlesOf(svg);
        expect(circles).toHaveLength(count);
        const { texts } = readPicture(svg);
        const all = new Set(names(count).map(plain));
        const shown = texts.filter(({ text, title }) => all.has(title ?? text));
        expect(shown.length).toBeGreaterThan(count === 10 ? 6 : 8);
        for (const name of shown) {
          for (const circle of circles)
            expect(meeting([name, circle]), `${name.text} ${kind} ${count}`).toEqual([]);
        }
      }
    },
  );

  it('move a name into the picture where its mark stands at the edge', () => {
    const room = { left: 0, top: 0, right: 200, bottom: 200 };
    const mark = (x: number, y: number, width = 60) => ({ x, y, radius: 5, width });
    const sides = ['top', 'right'] as const;
    expect(placeNames([mark(10, 100)], room, sides)).toEqual([{ side: 'top', shift: 20 }]);
    expect(placeNames([mark(195, 100)], room, sides)).toEqual([{ side: 'top', shift: -25 }]);
    expect(placeNames([mark(100, 10)], room, sides)).toEqual([{ side: 'right', shift: 0 }]);
    expect(placeNames([mark(10, 100), mark(40, 90)], room, sides)).toEqual([
      undefined,
      { side: 'top', shift: 0 },
    ]);
    expect(placeNames([mark(50, 50), mark(150, 150)], room, sides, 1)[1]).toBeUndefined();
  });

  it('tell the dates of many rows above them too', () => {
    const daysOf = (count: number) => {
      const { texts } = readPicture(drawChart(samples(count).roadmap, workspace));
      return texts.filter(({ text }) => /^01\.01\.\d{4}$/.test(text)).map(({ y, text }) => ({ y, text }));
    };
    expect(new Set(daysOf(10).map(({ y }) => y)).size).toBe(1);
    const tall = Map.groupBy(daysOf(200), ({ y }) => y);
    const [above, below] = [...tall.values()].map((row) => row.map(({ text }) => text).sort());
    expect(tall.size).toBe(2);
    expect(above).toEqual(below);
    expect(above!.length).toBeGreaterThan(2);
  });

  it('say that there is nothing to show, instead of nothing at all', () => {
    for (const [kind, chart] of Object.entries(samples(0)))
      expect(
        readPicture(drawChart(chart, workspace)).texts.some(({ text }) => text.includes('Nothing to show')),
        kind,
      ).toBe(true);
  });

  it('tell what the largest circle stands for', () => {
    const { texts } = readPicture(drawChart(samples(10).bubbles, workspace));
    expect(texts.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^Size: Annual cost \(EUR\), up to €\d+ · Colour/),
    );
  });

  it('have axes of round numbers around all values', () => {
    expect(scaleOf([])).toEqual({ min: 0, max: 1, interval: 1 });
    expect(scaleOf([0, 410_000])).toEqual({ min: 0, max: 500_000, interval: 100_000 });
    expect(scaleOf([7])).toMatchObject({ min: 6, max: 8 });
    expect(scaleOf([0])).toEqual({ min: 0, max: 0.2, interval: 0.2 });
    expect(scaleOf([-30, -20])).toMatchObject({ min: -32, max: -18, interval: 2 });
    forAll(200, [fc.array(fc.double({ noNaN: true, min: -1e12, max: 1e12 }), { minLength: 1 })], (values) => {
      const { min, max, interval } = scaleOf(values);
      expect(min).toBeLessThanOrEqual(Math.min(...values));
      expect(max).toBeGreaterThanOrEqual(Math.max(...values));
      expect((max - min) / interval).toBeLessThan(16);
    });
  });

  it('keep whole what they cut, as a title', () => {
    const { texts } = readPicture(drawChart(samples(10).bars, workspace));
    const cut = texts.filter(({ text }) => text.endsWith('…'));
    expect(cut.map(({ title }) => title)).toContain(`${plain(hostile[1]!)} 2`);
    for (const { text, title } of cut) expect(title?.startsWith(text.slice(0, -1))).toBe(true);
  });

  it('divide areas by value without gaps, and write values whole or not at all', () => {
    const area = { x: 10, y: 20, width: 300, height: 200 };
    const values = [50, 20, 10, 10, 5, 3, 1, 1];
    const pieces = divideArea(values, area, 1);
    for (const [at, { x, y, width, height }] of pieces.entries()) {
      expect(width * height).toBeCloseTo((values[at]! / 100) * 60_000, 6);
      expect([x >= 10, y >= 20, x + width <= 310.001, y + height <= 220.001]).toEqual(Array(4).fill(true));
      for (const other of pieces.slice(at + 1)) {
        const across = Math.min(x + width, other.x + other.width) - Math.max(x, other.x);
        const down = Math.min(y + height, other.y + other.height) - Math.max(y, other.y);
        expect(across < 0.001 || down < 0.001).toBe(true);
      }
    }
    expect(divideArea([], area, 1)).toEqual([]);
    // wide rather than high: names of two words stand whole in a hundred areas
    const even: Chart = {
      kind: 'treemap',
      title: 'Capabilities',
      valueAxis: 'capabilities',
      unit: 'count',
      even: true,
      items: Array.from({ length: 100 }, (_, index) => ({
        name: `Settlement Management ${index}`,
        value: 1,
        group: `Area ${index % 10}`,
      })),
    };
    const named = readPicture(drawChart(even, workspace)).texts.map(({ text }) => text);
    expect(named.filter((text) => text.includes('…')).length).toBeLessThan(10);
    for (let group = 0; group < 10; group += 1) expect(named).toContain(`Area ${group}`);
    for (const { text, title } of readPicture(drawChart(samples(200).treemap, workspace)).texts) {
      if (text.startsWith('€')) expect(text).toMatch(/^€[\d.]+[KM]?$/);
      if (text.endsWith('…')) expect(title).toContain(text.slice(0, -1));
    }
    expect(wrap('one two three four', textWidth('one two', 12), 12, 3)).toEqual(['one two', 'three', 'four']);
    expect(wrap('one two three four', textWidth('one t…', 12), 12, 1)).toEqual(['one t…']);
  });

  it('keep groups of one name apart, and show those without members', () => {
    const chart = landscapeChart(
      [
        { id: 'a', name: 'Sales', parent_id: null, items: [{ name: 'Shop' }, { name: 'Till' }] },
        { id: 'b', name: 'Sales', parent_id: null, items: [{ name: 'Desk' }] },
        { id: 'c', name: 'Unserved', parent_id: null, items: [] },
        { id: 'd', name: 'Ungrouped', parent_id: null, items: [{ name: 'Odd one' }] },
      ],
      [{ name: 'Alone' }],
      { type: 'Application', group_by: 'BusinessCapability' },
      { metamodel: seededMetamodel(), today: '2026-01-01' },
    );
    const written = readPicture(drawChart(chart, workspace)).texts.map(({ text }) => text);
    for (const [text, times] of [
      ['Sales', 2],
      ['Ungrouped', 2],
      ['Unserved', 1],
      ['Alone', 1],
    ] as const)
      expect([text, written.filter((one) => one === text).length]).toEqual([text, times]);
  });

  it('name what lies above groups of one name, as far up as they differ', () => {
    const group = (id: string, name: string, parent_id: string | null = null) => ({
      id,
      name,
      parent_id,
      items: [{ name: `in ${id}` }],
    });
    const { groups } = landscapeChart(
      [
        group('home', 'Home'),
        group('motor', 'Motor'),
        group('home-claims', 'Claims', 'home'),
        group('motor-claims', 'Claims', 'motor'),
        group('home-entry', 'Entry', 'home-claims'),
        group('motor-entry', 'Entry', 'motor-claims'),
        group('entry', 'Entry'),
      ],
      [],
      { type: 'Application', group_by: 'BusinessCapability' },
      { metamodel: seededMetamodel(), today: '2026-01-01' },
    ) as TreemapChart;
    expect(groups!.map(({ name }) => name)).toEqual([
      'Home',
      'Motor',
      'Claims (Home)',
      'Claims (Motor)',
      'Entry (Home / Claims)',
      'Entry (Motor / Claims)',
      'Entry',
    ]);
  });

  it('count the groups without members, and write their names on several lines', () => {
    const groups = Array.from({ length: 52 }, (_, at) => ({
      id: `g${at}`,
      name: `Operational Resilience ${at}`,
      parent_id: null,
      items: at < 38 ? [{ name: `Application ${at}` }] : [],
    }));
    const draw = (of: typeof groups) =>
      readPicture(
        drawChart(
          landscapeChart(
            of,
            [],
            { type: 'Application', group_by: 'BusinessCapability' },
            { metamodel: seededMetamodel(), today: '2026-01-01' },
          ),
          workspace,
        ),
      ).texts.map(({ text, title }) => title ?? text);
    const joined = draw(groups).join(' ');
    expect(joined).toContain('14 groups without Application');
    expect(joined).not.toContain('others');
    const few = draw(groups.slice(5, 43));
    expect(few).toContain('Operational');
    expect(few).toContain('Resilience 42');
  });

  it('say what they leave out, and never draw without bound', () => {
    for (const [kind, chart] of Object.entries(samples(1_000))) {
      const svg = drawChart(chart, workspace);
      expect(svg.length, kind).toBeLessThan(1_000_000);
      if (['lines', 'spans', 'figures'].includes(kind)) continue;
      expect(svg, kind).toMatch(/ of 1,000 are drawn|others/);
    }
  });

  it('write money, shares and dates as the workspace does', () => {
    expect(formatValue(1_234_567, 'currency', workspace)).toBe('€1.2M');
    expect(formatValue(950, 'currency', { ...workspace, currency: 'CHF' })).toBe('CHF\u00a0950');
    expect([formatValue(12.345, 'percent', workspace), formatValue(9_999, 'count', workspace)]).toEqual([
      '12.35 %',
      '9,999',
    ]);
    for (const [dateFormat, written] of [
      ['DD MMM YYYY', '09 Mar 2026'],
      ['M/D/YY', '3/9/26'],
      ['D. MMMM YYYY', '9. March 2026'],
    ] as const)
      expect(formatDate(Date.parse('2026-03-09'), { ...workspace, dateFormat })).toBe(written);
    expect(drawChart(samples(10).bars, workspace)).toContain('Annual cost (EUR)');
    expect(drawChart(samples(10).roadmap, workspace)).toContain('Today, 30.06.2026');
  });

  it('cut between characters as people see them', () => {
    const family = '👩‍👩‍👧‍👦';
    expect(shorten(`${family}${family}`, textWidth(family, 12) + textWidth('…', 12), 12)).toBe(`${family}…`);
    expect(plain('a\u202eb\u0000\nc')).toBe('a b c');
  });

  it('leave gaps in lines where values are missing', () => {
    const chart: Chart = {
      kind: 'lines',
      title: 'Series',
      valueAxis: 'Cards',
      unit: 'count',
      times: ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05'].map(
        (day) => `${day}T00:00:00.000Z`,
      ),
      series: [{ name: 'All', values: [1, 2, null, 4, 5] }],
    };
    const line = /<path d="([^"]*)" fill="none"[^>]*stroke="#0067a5"/.exec(drawChart(chart, workspace))!;
    expect(line[1]!.match(/M/g)).toHaveLength(2);
  });
});
