import { labelledMetamodel } from '../../../../domain/kernel/metamodel/metamodel.labels.ts';
import { readXml } from '../../../../platform/xml.ts';
import { drawChart } from '../../../../reports/kernel/charts/charts.draw.ts';
import type { Chart } from '../../../../reports/kernel/charts/charts.types.ts';
import { render } from '../../../../reports/kernel/rendering/rendering.queue.ts';
import type { Rendering } from '../../../../reports/kernel/rendering/rendering.types.ts';
import { createShared } from '../../../../reports/kernel/report.shared.ts';
import { seededMetamodel } from '../../../domain/inventory/cards/seeded-metamodel.ts';
import { unpack } from '../../../support/archives.ts';
import { readWorkbook } from '../../../support/workbook.ts';
import { samples } from '../charts/samples.ts';

const workspace = { currency: 'EUR', dateFormat: 'DD.MM.YYYY' };
const chart = samples(3).bars;
const notes = { line: 'filter: <b> & "c"', day: '2026-11-30' };
const picture: Rendering = { chart, workspace, format: 'svg', options: {}, notes };

/** An answer with as many applications, as the report on costs gives it. */
const costs = (count: number) => {
  const items = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ id: String(index), name: `=Application ${index}`, cost: index }),
  );
  return {
    report: 'cost',
    params: { type: 'Application', cost_field: 'costTotalAnnual' },
    said: { type: 'Application' },
    body: Buffer.from(`{"items":[\n${items.join(',\n')}\n],"total":1,"position":"1"}`),
  };
};

it('makes files and pictures in another thread, the same as here', async () => {
  const answer = costs(2);
  const [svg, csv, xlsx] = await Promise.all([
    render(picture),
    render({ format: 'csv', ...answer }),
    render({ format: 'xlsx', ...answer }),
  ]);
  expect(svg.toString()).toBe(drawChart(chart, workspace));
  expect(csv.toString().split('\r\n').slice(1, 3)).toEqual([
    expect.stringContaining("'=Application 0"),
    expect.stringContaining("'=Application 1"),
  ]);
  // it was lent to the thread, not given
  expect(answer.body.length).toBeGreaterThan(0);
  expect((await readWorkbook(xlsx)).worksheets[0]!.rowCount).toBe(3);
});

it('draws PNG of two pixels for each, within bounds of its size', async () => {
  const png = async (count: number, width: number) => {
    const made = await render({ ...picture, chart: samples(count).bars, format: 'png', options: { width } });
    expect(made.subarray(1, 4).toString()).toBe('PNG');
    return [made.readUInt32BE(16), made.readUInt32BE(20)] as const;
  };
  expect((await png(3, 600))[0]).toBe(1200);
  const [width, height] = await png(200, 2_400);
  expect(width * height).toBeLessThanOrEqual(24_100_000);
  const names = [{ name: '財務会計システム نظام', values: [1, 1] }];
  const other = { ...samples(1).bars, items: names } as typeof chart;
  expect((await render({ ...picture, chart: other, format: 'png' })).length).toBeGreaterThan(1_000);
});

/** The parts of a presentation, whose XML is well-formed and whose relationships lead to parts of a declared type. */
async function slidesOf(pptx: Buffer): Promise<string[]> {
  const parts = await unpack(pptx);
  const text = (name: string) => parts.get(name)!.toString();
  const types = text('[Content_Types].xml');
  for (const [name, content] of parts) {
    if (name.endsWith('.png')) expect(content.subarray(1, 4).toString()).toBe('PNG');
    else readXml(content.toString(), { open: () => undefined }, { depth: 100, elements: 100_000 });
    if (!/\.(rels|png)$|^\[/.test(name)) expect(types).toContain(`PartName="/${name}"`);
    if (!name.endsWith('.rels')) continue;
    const folder = `/${name.replace(/_rels\/[^/]*$/, '')}`;
    for (const [, target] of content.toString().matchAll(/Target="([^"]*)"/g))
      expect([...parts.keys()]).toContain(new URL(target!, `file://${folder}`).pathname.slice(1));
  }
  return [...parts.keys()].filter((name) => /slides\/slide\d+\.xml$/.test(name)).map(text);
}

it('writes slides: one for each picture, then the first rows as a table, in plain text', async () => {
  const [only] = await slidesOf(await render({ ...picture, format: 'pptx' }));
  expect(only).toContain('<a:t>filter: &lt;b&gt; &amp; "c"</a:t>');
  expect(only).toContain('<a:t>As of 30.11.2026</a:t>');
  const panels: Chart = {
    kind: 'panels',
    title: 'Both',
    panels: [chart, { ...chart, title: 'Second' }] as never,
  };
  const both = await slidesOf(await render({ ...picture, chart: panels, format: 'pptx' }));
  expect(both).toHaveLength(2);
  expect(both[1]).toContain('<a:t>Both: Second</a:t>');

  const look = {
    context: { metamodel: { cardTypes: new Map() }, today: '2026-11-30' },
    workspace,
    options: {},
  };
  const deck = await slidesOf(await render({ format: 'pptx', ...costs(91), look }));
  expect(deck).toHaveLength(1 + 5);
  expect(deck[1]).toContain('<a:t>=Application 0</a:t>');
  expect(deck[1]).toContain('Rows 1 to 18 · The first 90 rows');
  expect(deck[5]).toContain('<a:t>=Application 89</a:t>');
  for (const slide of [...both, ...deck]) {
    expect(slide).toContain('<p:ph type="title"/>');
    expect(slide).not.toMatch(/hlinkClick|<a:fld|oleObj|TargetMode/);
  }
});

it('writes slides for people: labels in their language, and pictures that fill the slides', async () => {
  const { cardTypes } = labelledMetamodel(
    seededMetamodel({ cardTypes: { Application: { translations: { de: 'Anwendung' } } } }),
    'de',
  );
  const look = {
    context: { metamodel: { cardTypes }, today: '2026-11-30', language: 'de' },
    workspace: { ...workspace, language: 'de' },
    options: { language: 'de' },
  } as const;
  const lifecycle = { plan: '2024-01-31', endOfLife: '2030-12-31' };
  const items = Array.from({ length: 30 }, (_, index) => ({
    ...{ id: String(index), name: `App ${index}`, type: 'Application', subtype: 'businessApplication' },
    ...{ lifecycle, attributes: {} },
  }));
  const body = Buffer.from(`{"items":${JSON.stringify(items)},"position":"1"}`);
  const report = {
    format: 'pptx',
    report: 'roadmap',
    params: {},
    said: { days: 180, status: 'eol,approaching', type: 'Application' },
    body,
    look,
  } as const;
  const [drawn, table] = await slidesOf(await render(report));
  for (const text of ['Name', 'Typ', 'Untertyp', 'Lebensende', 'Anwendung', '31.01.2024'])
    expect(table).toContain(`<a:t>${text}</a:t>`);
  expect(table).not.toMatch(/<a:t>(endOfLife|Application|businessApplication)</);
  expect(drawn! + table).not.toContain('lang="en"');
  expect(drawn).toContain('lang="de"');
  // the title says the type
  expect(drawn).toContain('<a:t>Tage voraus: 180 · Status: Abgelaufen, Endet bald</a:t>');
  const [, wide, high] = /<p:pic>.*?<a:ext cx="(\d+)" cy="(\d+)"\/>/.exec(drawn!)!;
  const filled = (Number(wide) * Number(high)) / (11_277_600 * 5_029_200);
  const fixed = { ...look, options: { ...look.options, width: 600 } };
  const [narrow] = await slidesOf(await render({ ...report, look: fixed }));
  expect(filled).toBeGreaterThan(0.5);
  expect(Number(wide)).toBeGreaterThan(
    2 * Number(/<p:pic>.*?<a:ext cx="(\d+)" cy="\d+"\/>/.exec(narrow!)![1]),
  );
});

it('survives what fails, and hands refusals on as they are', async () => {
  await expect(render({ ...picture, chart: { kind: 'bars' } as never })).rejects.toThrow('rendering failed');
  await expect(render({ format: 'csv', ...costs(1), table: 'nothing' })).rejects.toMatchObject({
    code: 'validation_failed',
    errors: [expect.objectContaining({ field: 'table', code: 'unknown_value' })],
  });
  const body = new Uint8Array(128 * 1024 * 1024 + 1);
  const { report, params } = costs(1);
  const context = { metamodel: { cardTypes: new Map() }, today: '2026-01-01' };
  await expect(
    render({ format: 'svg', report, params, said: {}, body, look: { context, workspace, options: {} } }),
  ).rejects.toMatchObject({ code: 'query_too_heavy' });
  expect((await render(picture)).toString()).toContain('<svg');
});

it('gives up what nobody waits for, in the queue and in the thread, and what takes too long', async () => {
  const reason = new Error('gone');
  const stop = new AbortController();
  const given = Array.from({ length: 4 }, () =>
    render({ format: 'csv', ...costs(20_000) }, { signal: stop.signal }),
  );
  const late = render({ format: 'csv', ...costs(20_000) }, { limitMs: 1 });
  stop.abort(reason);
  const ends = await Promise.allSettled([...given, late]);
  expect(ends.map((end) => (end.status === 'rejected' ? end.reason : end.status)).slice(0, 4)).toEqual(
    given.map(() => reason),
  );
  expect(ends[4]).toMatchObject({ status: 'rejected', reason: { code: 'unavailable', status: 503 } });
  expect((await render(picture)).toString()).toContain('<svg');
});

it('refuses a document that takes too long, while others are made', async () => {
  const paper = (text: string) => ({
    kind: 'Decision',
    title: 'A document',
    notice: null,
    facts: [['Status', 'Draft']],
    written: '2026-01-01T00:00:00.000Z',
    footer: 'A document',
    parts: [{ kind: 'markdown', text, level: 2 }],
    signatures: [],
  });
  const order: string[] = [];
  // one word of very many pieces, of which the layout takes the first again and again
  const hostile = render({ make: 'pdf', paper: paper('|a'.repeat(800_000)) as never }).catch((error) => {
    order.push('hostile');
    return error;
  });
  for (let n = 0; n < 3; n += 1) {
    expect((await render({ make: 'docx', paper: paper('Short.') as never })).length).toBeGreaterThan(1_000);
    order.push('short');
  }
  expect(await hostile).toMatchObject({ code: 'query_too_heavy', status: 422 });
  expect(order).toEqual(['short', 'short', 'short', 'hostile']);
});

it('writes DOCX without characters that XML cannot hold', async () => {
  const hostile = 'T\ufffe\uffffitle';
  const paper = {
    ...{ kind: hostile, title: hostile, notice: hostile, footer: hostile },
    ...{ facts: [[hostile, hostile]], written: '2026-01-01T00:00:00.000Z', signatures: [] },
    parts: [{ kind: 'markdown', text: hostile, level: 2 }],
  };
  const parts = await unpack(await render({ make: 'docx', paper: paper as never }));
  for (const [name, content] of parts) {
    if (/\.(xml|rels)$/.test(name))
      expect([name, /[\ufffe\uffff]/.test(content.toString())]).toEqual([name, false]);
  }
  expect(parts.get('word/document.xml')!.toString()).toContain('Title');
});

it('takes the renderings of those who ask in turn', async () => {
  const order: string[] = [];
  const ask = (user: string, n: number) =>
    render({ format: 'csv', ...costs(2_000) }, { user }).then(() => void order.push(`${user} ${n}`));
  const asked = Array.from({ length: 12 }, (_, n) => ask('many', n));
  await Promise.all([ask('few', 0), ask('few', 1)]);
  // two of the first were under way, and one goes before each of the second
  expect(order.filter((name) => name.startsWith('many')).length).toBeLessThanOrEqual(6);
  await Promise.all(asked);
  expect(order.filter((name) => name.startsWith('many'))).toHaveLength(12);
});

it('lets no more wait than it can hold, and of one user half of it', async () => {
  const stop = new AbortController();
  const one = Array.from({ length: 60 }, () => render(picture, { signal: stop.signal, user: 'one' }));
  await expect(Promise.race(one)).rejects.toMatchObject({ code: 'too_many_requests', status: 429 });
  expect((await render(picture, { user: 'other' })).toString()).toContain('<svg');
  stop.abort(new Error('enough'));
  await Promise.allSettled(one);
});

it('lets no more wait than it can hold', async () => {
  const stop = new AbortController();
  const many = Array.from({ length: 120 }, () => render(picture, { signal: stop.signal }));
  const refused = await Promise.race(
    many.map((one) =>
      one.then(
        () => Promise.reject(),
        (error) => error,
      ),
    ),
  );
  expect(refused).toMatchObject({ code: 'unavailable', headers: { 'retry-after': '5' } });
  stop.abort(new Error('enough'));
  await Promise.allSettled(many);
});

it('shares work among those who ask, and ends it with the last of them', async () => {
  const share = createShared();
  const done = Promise.withResolvers<Buffer>();
  const signals: AbortSignal[] = [];
  const make = (signal: AbortSignal) => {
    signals.push(signal);
    return done.promise;
  };
  const first = new AbortController();
  const second = new AbortController();
  const one = share('a', make, first.signal);
  const other = share('a', make, second.signal);
  expect(signals).toHaveLength(1);
  first.abort(new Error('one'));
  await expect(one).rejects.toThrow('one');
  expect(signals[0]!.aborted).toBe(false);
  second.abort(new Error('other'));
  await expect(other).rejects.toThrow('other');
  expect(signals[0]!.aborted).toBe(true);
  const again = share('a', make);
  expect(signals).toHaveLength(2);
  done.resolve(Buffer.from('made'));
  expect((await again).toString()).toBe('made');
});
