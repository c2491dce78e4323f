import fc from 'fast-check';
import { landscapeChart } from '../../../../reports/inventory/landscape/landscape.report.ts';
import { contrast, LEAST } from '../../../../reports/kernel/charts/charts.colours.ts';
import { drawChart } from '../../../../reports/kernel/charts/charts.draw.ts';
import { fieldAxis, positionOnAxis, worstOption } from '../../../../reports/kernel/charts/charts.labels.ts';
import { placeNames } from '../../../../reports/kernel/charts/charts.names.ts';
import {
  formatDate,
  formatShare,
  formatValue,
  numberWriter,
  tickWriter,
} from '../../../../reports/kernel/charts/charts.numbers.ts';
import { scaleOf } from '../../../../reports/kernel/charts/charts.parts.ts';
import { divideArea } from '../../../../reports/kernel/charts/charts.squares.ts';
import { plain, shorten, wrap } from '../../../../reports/kernel/charts/charts.text.ts';
import { schemes } from '../../../../reports/kernel/charts/charts.tokens.ts';
import type {
  BoxesChart,
  Chart,
  MatrixChart,
  RoadmapChart,
} from '../../../../reports/kernel/charts/charts.types.ts';
import { textWidth } from '../../../../reports/kernel/charts/charts.widths.ts';
import { seededMetamodel } from '../../../domain/inventory/cards/seeded-metamodel.ts';
import { forAll } from '../../../support/property.ts';
import { circlesOf, meeting, readPicture } from './boxes.ts';
import { hostile, names, samples } from './samples.ts';

const workspace = { currency: 'EUR', dateFormat: 'DD.MM.YYYY' };
const kinds = Object.keys(samples(1)) as (keyof ReturnType<typeof samples>)[];

describe.each(kinds)('a picture of kind %s', (kind) => {
  it.each([
    [0, 1_200],
    [1, 1_200],
    [10, 1_200],
    [10, 600],
    [200, 1_200],
    [200, 600],
    [200, 320],
  ])('shows %i items %i pixels wide without labels that meet or leave it', (count, asked) => {
    const { texts, width, height, elements, attributes } = readPicture(
      drawChart(samples(count)[kind], workspace, { width: asked }),
    );
    expect(width).toBe(asked);
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
    for (const name of attributes) expect(name).not.toMatch(/^on|href$|^style$/);
  });

  it('is the same for the same answer, and says what it shows', () => {
    const chart = samples(10)[kind];
    const svg = drawChart(chart, workspace);
    expect(drawChart(chart, workspace)).toBe(svg);
    expect(svg).toContain(`role="img" aria-label="${chart.title}"`);
    expect(svg).toContain(`<title>${chart.title}</title>\n<desc>`);
    expect(/<desc>([^<]*)/.exec(svg)![1]!.length).toBeGreaterThan(5);
    expect(drawChart(chart, workspace, { theme: 'dark' })).toContain(`fill="${schemes.dark.panel}"`);
  });
});

describe('pictures', () => {
  it.each(Object.entries(schemes))(
    'write in colours of enough contrast in the %s scheme',
    (theme, scheme) => {
      for (const kind of kinds) {
        const svg = drawChart(samples(10)[kind], workspace, { theme: theme as 'light' | 'dark' });
        for (const { fill } of readPicture(svg).texts) expect(fill, kind).toMatch(/^#[0-9a-f]{6}$/);
      }
      for (const text of [scheme.text, scheme.text2, scheme.text3])
        expect(contrast(text, scheme.canvas)).toBeGreaterThanOrEqual(LEAST.text);
    },
  );

  it.each(['bubbles', 'amounts'] as const)('of kind %s name circles and hide none of them', (kind) => {
    for (const count of [10, 200]) {
      const svg = drawChart(samples(count)[kind], workspace);
      const { texts } = readPicture(svg);
      const all = new Set(names(count).map(plain));
      const shown = texts.filter(({ text, title }) => all.has(title ?? text));
      const circles = circlesOf(svg).filter(({ width }) => width !== 10);
      expect(circles.length).toBeGreaterThan(count === 10 ? 8 : 150);
      expect(shown.length).toBeGreaterThan(count === 10 ? 4 : 8);
      for (const name of shown) {
        for (const circle of circles)
          expect(meeting([name, circle]), `${name.text} ${kind} ${count}`).toEqual([]);
      }
    }
  });

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

  it('write the years above and below the rows of a roadmap, and cut what is far away', () => {
    const chart: Chart = {
      ...(samples(3).roadmap as RoadmapChart),
      items: [
        { name: 'Old', dates: [null, null, '1991-01-01', null, null], group: '0' },
        { name: 'Long', dates: [null, null, '2026-01-01', null, '2099-01-01'], group: '0' },
      ],
    };
    const { texts } = readPicture(drawChart(chart, workspace));
    const years = texts.filter(({ text }) => /^20\d\d$/.test(text));
    expect(new Set(years.map(({ y }) => y)).size).toBe(2);
    expect(new Set(years.map(({ text }) => Number(text)))).toEqual(
      new Set([2024, 2025, 2026, 2027, 2028, 2029, 2030, 2031]),
    );
    const written = texts.map(({ text }) => text);
    expect(written).toContain('← 1991');
    expect(written).toContain('→ 2099');
    expect(written).toContain('Today, 30.06.2026');
  });

  it('count the changes of more rows than can be read by quarter', () => {
    const written = readPicture(drawChart(samples(300).roadmap, workspace)).texts.map(({ text }) => text);
    expect(written.join(' ')).toContain('A number counts the cards');
    expect(written).toContain('Q1');
    expect(written.length).toBeLessThan(400);
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
      expect.stringMatching(/^Area: Annual cost, up to €\d+ · Colour/),
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
    const { texts } = readPicture(drawChart(samples(10).bars, workspace, { width: 600 }));
    const cut = texts.filter(({ text }) => text.endsWith('…'));
    expect(cut.map(({ title }) => title)).toContain(`${plain(hostile[1]!)} 2`);
    for (const { text, title } of cut) expect(title?.startsWith(text.slice(0, -1))).toBe(true);
  });

  it('divide areas by value without gaps', () => {
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
      ['No application', 2],
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
    const { boxes } = landscapeChart(
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
    ) as BoxesChart;
    expect(boxes.map(({ name }) => name)).toEqual([
      'Home',
      'Motor',
      'Claims (Home)',
      'Claims (Motor)',
      'Entry (Home / Claims)',
      'Entry (Motor / Claims)',
      'Entry',
    ]);
  });

  it('fold lower levels of many boxes, and count the gaps of each', () => {
    const boxes: BoxesChart['boxes'] = Array.from({ length: 2_000 }, (_, at) => ({
      id: String(at),
      name: `Capability ${at}`,
      parent_id: at < 20 ? null : String(at % 20),
      items: at % 2 === 0 ? [{ name: `Application ${at % 50}` }] : [],
    }));
    const chart: Chart = {
      kind: 'boxes',
      title: 'Map',
      member: ['application', 'applications'],
      gaps: true,
      boxes,
    };
    const written = readPicture(drawChart(chart, workspace)).texts.map(({ text }) => text);
    expect(written).toContain('+99 below · 5 applications');
    expect(written).toContain('No application');
    expect(written.join(' ')).toContain('Only the first level is drawn');
    const alone = readPicture(
      drawChart({ ...chart, boxes: boxes.map((box) => ({ ...box, items: [] })) }, workspace),
    );
    expect(alone.texts.map(({ text }) => text).join(' ')).toContain('None has an application yet');
  });

  it('group the lines of a large matrix one level up, and count its pairs', () => {
    const above = (at: number) => ({ above: [{ key: `a${at % 9}`, name: `Area ${at % 9}` }] });
    const lines = Array.from({ length: 900 }, (_, at) => ({ name: `Card ${at}`, ...above(at) }));
    const chart: MatrixChart = {
      ...(samples(1).matrix as MatrixChart),
      rows: lines,
      columns: lines.slice(0, 12).map(({ name }) => ({ name })),
      cells: lines.map((_, at): [number, number, number] => [at, at % 12, 1]),
    };
    const written = readPicture(drawChart(chart, workspace)).texts.map(({ text }) => text);
    expect(written.filter((text) => /^Area \d$/.test(text))).toHaveLength(9);
    expect(written).toContain('25');
    expect(written.join(' ')).toContain('Grouped; a number counts the pairs of 900 × 12');
    const flat = { ...chart, rows: lines.map(({ name }) => ({ name })) };
    const texts = readPicture(drawChart(flat, workspace)).texts.map(({ text }) => text);
    expect(texts).toContain('Other (841)');
  });

  it('bundle more than twelve cards of a type', () => {
    const written = readPicture(drawChart(samples(200).graph, workspace)).texts.map(
      ({ text, title }) => title ?? text,
    );
    expect(written.filter((text) => text.startsWith('and ')).length).toBe(9);
  });

  it('put good up and right on axes of options, in their order', () => {
    const context = { metamodel: seededMetamodel(), today: '2026-01-01' };
    const fit = fieldAxis(context, 'Application', 'functionalSuitability');
    expect([fit.steps, fit.judged]).toEqual([
      ['Unreasonable', 'Insufficient', 'Appropriate', 'Perfect'],
      true,
    ]);
    expect(positionOnAxis(context, 'Application', 'functionalSuitability', 'perfect')).toBe(3);
    expect(fieldAxis(context, 'BusinessProcess', 'riskLevel').steps!.at(-1)).toBe('Low');
    expect(fieldAxis(context, 'BusinessCapability', 'maturity').steps![0]).toBe('1 - Initial');
    expect(fieldAxis(context, 'Application', 'businessCriticality').steps!.at(-1)).toBe('Mission Critical');
    expect(
      worstOption(context, 'Application', 'technicalSuitability', ['adequate', null, 'inappropriate']),
    ).toBe('inappropriate');
    expect(worstOption(context, 'BusinessProcess', 'riskLevel', ['low', 'high'])).toBe('high');
  });

  it('say what they leave out, and never draw without bound', () => {
    for (const [kind, chart] of Object.entries(samples(1_000))) {
      const svg = drawChart(chart, workspace);
      expect(svg.length, kind).toBeLessThan(1_000_000);
      if (['lines', 'spans', 'figures', 'columns', 'bubbles', 'list'].includes(kind)) continue;
      expect(svg, kind).toMatch(
        / of 1,000 are drawn|Other|others|other|A number counts|left out|Only the first|are drawn/,
      );
    }
  });

  it('write the numbers of an axis in one unit', () => {
    const write = numberWriter([3_180_000, 95_000, 800], 'currency', { ...workspace, currency: 'USD' });
    expect([3_180_000, 95_000, 800, 0, -2_000_000].map(write)).toEqual([
      '$3.18M',
      '$0.10M',
      '<$0.01M',
      '$0',
      '−$2.00M',
    ]);
    const counts = numberWriter([10_900, 9_999], 'count', workspace);
    expect([10_900, 9_999].map(counts)).toEqual(['10,900', '9,999']);
    const ticks = [0, 2_000_000, 4_000_000];
    expect(ticks.map(tickWriter(ticks, 'currency', workspace))).toEqual(['€0', '€2M', '€4M']);
    const fine = [0, 500_000, 1_000_000, 1_500_000];
    expect(fine.map(tickWriter(fine, 'currency', workspace))).toEqual(['€0', '€0.5M', '€1.0M', '€1.5M']);
    expect([0, 0.0004, 0.042, 0.0999, 0.426, 1].map((share) => formatShare(share))).toEqual([
      '0 %',
      '<0.1 %',
      '4.2 %',
      '10 %',
      '43 %',
      '100 %',
    ]);
  });

  it('write money, shares and dates as the workspace does', () => {
    expect(formatValue(1_234_567, 'currency', workspace)).toBe('€1.23M');
    expect(formatValue(950, 'currency', { ...workspace, currency: 'CHF' })).toBe('CHF\u00a0950');
    expect([formatValue(12.345, 'percent', workspace), formatValue(9_999, 'count', workspace)]).toEqual([
      '12 %',
      '9,999',
    ]);
    for (const [dateFormat, written] of [
      ['DD MMM YYYY', '09 Mar 2026'],
      ['M/D/YY', '3/9/26'],
      ['D. MMMM YYYY', '9. March 2026'],
    ] as const)
      expect(formatDate(Date.parse('2026-03-09'), { ...workspace, dateFormat })).toBe(written);
    expect(drawChart(samples(10).bars, workspace)).toContain('Annual cost (EUR)');
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
    const line = /<path d="([^"]*)" fill="none" stroke="#3557b8" stroke-width="2"/.exec(
      drawChart(chart, workspace),
    )!;
    expect(line[1]!.match(/M/g)).toHaveLength(2);
  });
});
