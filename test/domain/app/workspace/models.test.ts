import { randomBytes } from 'node:crypto';
import { contentId } from '../../../../domain/modelling/bpm/bpmn.read.ts';
import { packPage, unpackPage } from '../../../../domain/modelling/diagrams/drawing.work.ts';
import { drawingId } from '../../../../domain/modelling/diagrams/drawings.store.ts';
import { chain, definitions, rich } from '../../../api/bpm/models.ts';
import { drawn } from '../../../api/diagrams/diagrams.fixture.ts';
import { addRows, archiveRows, changeRows, preview } from '../../../support/archive-rows.ts';
import {
  applyArchive,
  exportArchive,
  manifestOf,
  onEmptyService,
  only,
  openTwoServices,
  type Parts,
  rewrite,
  unpack,
} from '../../../support/archives.ts';

/* An archive is sent by anybody: what it holds of XML is read as that of any request. */
const page = (id: string) => `<mxfile><diagram>${packPage(drawn(id, 'Ledger'))}</diagram></mxfile>`;

const { source, target } = await openTwoServices();
const admin = await source.as('admin');
const make = async (path: string, body: object, status = 201) => {
  const answer = await admin.post(`/api/v1/${path}`, body);
  expect(answer.status, answer.text).toBe(status);
  return answer.body;
};
const cardId: string = (await make('cards', { type: 'Application', name: 'Ledger', external_id: 'LX-1' })).id;
const process = await make('cards', { type: 'BusinessProcess', name: 'Order' });
const flow = await make('cards', { type: 'BusinessProcess', name: 'Ship' });
const saved = await admin.put(`/api/v1/bpm/processes/${process.id}/diagram`, { bpmn_xml: rich });
expect(saved.status, saved.text).toBe(200);
// an id of somebody in a model is a part of its text
const bpmn_xml = chain({ a: `Ask ${admin.userId}` });
await make(`bpm/processes/${flow.id}/flow/drafts`, { bpmn_xml });
await make('diagrams', { name: 'Plain', data: { xml: drawn(cardId, 'Ledger') } });
await make('diagrams', {
  name: 'Packed',
  data: { xml: page(cardId), thumbnail: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>' },
});
await make('diagrams', { name: 'Of nothing' });
const parts = only(
  await unpack(await exportArchive(source.services, await source.ctx())),
  /^(?:users|settings|cards|diagram|process_)/,
);
/** The archive with another id wherever the one stood. */
const exchanged = (from: Parts, id: string, other: string): Parts =>
  manifestOf(from)
    .files.filter(({ kind }) => kind !== undefined)
    .reduce(
      (now, { name }) => rewrite(now, name, (rows) => rows.map((row) => row.replaceAll(id, other))),
      from,
    );

/** The archive with another text in the place of the rich model, as whoever forges one would do it. */
function withModel(text: string, more: object = {}): Parts {
  const { id } = archiveRows(parts, 'process_contents').find((row) => row.text === rich)!;
  const own = contentId('bpmn', 'utf-8', Buffer.from(text));
  const put = changeRows(parts, 'process_contents', (row) =>
    row.id === id ? { text, size: Buffer.byteLength(text), ...more } : undefined,
  );
  return exchanged(put, id, own);
}

function withDrawing(name: string, change: { xml?: string; card_ids?: string[]; marked?: boolean }): Parts {
  const { drawing } = archiveRows(parts, 'diagrams').find((row) => row.name === name)!;
  const before = archiveRows(parts, 'diagram_drawings').find(({ id }) => id === drawing)!;
  const after = { ...before, ...change } as never;
  const put = changeRows(parts, 'diagram_drawings', (row) => (row.id === drawing ? after : undefined));
  return exchanged(put, drawing, drawingId(after));
}

/** The archive with other values of an element of a model, or without it. */
const withElement = (values: object | null): Parts =>
  changeRows(parts, 'process_content_elements', (row) =>
    row.bpmn_element_id === 'check' ? values : undefined,
  );

describe('what a request would refuse is named, line and column, and nothing of it comes along', () => {
  const entities = `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">${Array.from(
    { length: 20 },
    (_, n) => `<!ENTITY a${n} "${`&a${n === 0 ? '' : n - 1};`.repeat(10)}">`,
  ).join('')}]><d>&a19;</d>`;
  const deep = definitions(
    `<b:process id="p">${'<b:subProcess>'.repeat(200)}${'</b:subProcess>'.repeat(200)}</b:process>`,
  );
  const picture = () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    const { id } = archiveRows(parts, 'process_contents').find((row) => row.text === rich)!;
    const values = { kind: 'svg', text: svg, size: svg.length };
    const put = changeRows(parts, 'process_contents', (row) => (row.id === id ? values : undefined));
    return exchanged(put, id, contentId('svg', 'utf-8', Buffer.from(svg)));
  };
  const long = () => withModel(`${rich}<!-- ${randomBytes(2 ** 20).toString('hex')} -->`);
  const loaded = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>';
  /** By the table that is at fault, and the one that is skipped for it. */
  const faults: Record<string, Record<string, [() => Parts, RegExp]>> = {
    'process_contents, process_diagrams': {
      'a model with entities': [() => withModel(entities), /^format text .*document type/],
      'a model that is cut off': [() => withModel(rich.slice(0, -40)), /^format text /],
      'another XML': [() => withModel('<a/>'), /^format text .*BPMN 2\.0/],
      'a model without end': [() => withModel(deep), /^format text .*deep/],
      'a model that is too long': [long, /^too_long text /],
      'a size that is none': [() => withModel(`${rich} `, { size: 7 }), /^out_of_range size /],
      'an encoding that is none': [() => withModel(`${rich} `, { original: '\\x00' }), /^checksum id /],
      'a model without its elements': [() => withElement(null), /^elements_differ text .*check/],
    },
    'process_diagrams, process_diagrams': {
      'a picture in the place of a model': [picture, /^unknown_value content_id /],
    },
    'process_content_elements, process_diagrams': {
      'an element of which the model knows nothing': [
        () => withElement({ bpmn_element_id: 'evil' }),
        /^elements_differ bpmn_element_id /,
      ],
      'an element of another name': [
        () => withElement({ name: 'Evil' }),
        /^elements_differ bpmn_element_id /,
      ],
    },
    'diagram_drawings, diagrams': {
      'a broken drawing': [
        () => withDrawing('Plain', { xml: '<mxGraphModel><root>' }),
        /^bad_drawing xml .*well-formed/,
      ],
      'a drawing with entities': [
        () => withDrawing('Plain', { xml: entities }),
        /^bad_drawing xml .*document type/,
      ],
      'a packed page that is none': [
        () => withDrawing('Packed', { xml: '<mxfile><diagram>AAAA</diagram></mxfile>' }),
        /^bad_drawing xml .*unpacked/,
      ],
      'cards that it does not name': [
        () => withDrawing('Plain', { card_ids: [] }),
        /^cards_differ card_ids /,
      ],
      'marks that it has not': [() => withDrawing('Plain', { marked: true }), /^does_not_fit marked /],
      'a drawing under the id of another': [
        () => changeRows(parts, 'diagram_drawings', (row) => ({ xml: row.xml.replace('<root>', '<root >') })),
        /^checksum id /,
      ],
    },
    'diagrams, diagrams': {
      'a thumbnail that runs something': [
        () => changeRows(parts, 'diagrams', () => ({ thumbnail: loaded })),
        /^bad_thumbnail thumbnail /,
      ],
    },
  };
  describe.each(Object.entries(faults))('in %s', (tables, cases) => {
    const [table, skipped] = tables.split(', ') as [string, string];
    it.each(Object.entries(cases))('%s', { timeout: 30_000 }, async (_name, [archive, expected]) => {
      const { status, diff, error_message } = await preview(target, archive());
      expect([status, error_message]).toEqual(['previewed', null]);
      const own = diff!.conflicts.filter(({ kind }) => kind === table);
      expect(own.map(({ code, field, message }) => `${code} ${field} ${message}`)).toContainEqual(
        expect.stringMatching(expected),
      );
      for (const { line } of own) expect(line).toBeGreaterThan(0);
      expect(diff!.kinds[skipped]!.conflict).toBeGreaterThan(0);
      expect(diff!.kinds.cards!.conflict).toBe(0);
    });
  });
});

it('brings the rest of such an archive, and nothing of what was faulty', async () => {
  await onEmptyService(async (other) => {
    const ctx = await other.ctx();
    const faulty = withModel('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>');
    const { drawing } = archiveRows(faulty, 'diagrams').find((row) => row.name === 'Plain')!;
    const broken = changeRows(faulty, 'diagram_drawings', (row) =>
      row.id === drawing ? { xml: '<mxfile>' } : undefined,
    );
    const { id } = await preview(other, broken);
    const { status, result } = await applyArchive(ctx, id);
    expect(status).toBe('applied');
    expect(result!.left.length).toBeGreaterThan(0);
    const { db } = other.services;
    expect(await db('process_contents').whereLike('text', '%DOCTYPE%')).toEqual([]);
    expect([
      await db('process_diagrams').pluck('id'),
      await db('diagram_drawings').where({ id: drawing }),
    ]).toEqual([[], []]);
    expect(await db('diagrams').orderBy('name').pluck('name')).toEqual(['Of nothing', 'Packed']);
    expect((await db('process_flow_versions').pluck('status')).length).toBe(1);
  });
}, 60_000);

it('takes what is right as it was sent, draws it anew, and has packed pages name the cards that are here', async () => {
  const { db } = target.services;
  const { body: here } = await (await target.as('admin')).post('/api/v1/cards', {
    type: 'Application',
    name: 'Ledger',
    external_id: 'LX-1',
  });
  const lying = changeRows(parts, 'process_contents', () => ({
    picture: '<svg onload="x()"/>',
    warnings: ['No'],
  }));
  const { id, diff } = await preview(target, lying);
  expect(diff!.conflicts.filter(({ kind }) => kind !== 'cards')).toEqual([]);
  const { result } = await applyArchive(await target.ctx(), id);
  expect(result!.left.filter(({ kind }) => kind !== 'cards')).toEqual([]);
  const contents = () =>
    ['process_contents', 'process_content_elements'].map((table) => archiveRows(parts, table).length);
  expect(contents()).toEqual([
    Number((await db('process_contents').count('* as n').first())!.n),
    Number((await db('process_content_elements').count('* as n').first())!.n),
  ]);
  expect(await db('process_contents').orderBy('id').select('text', 'picture', 'warnings')).toEqual(
    await source.services.db('process_contents').orderBy('id').select('text', 'picture', 'warnings'),
  );
  const drawings = await db('diagrams as d')
    .join('diagram_drawings as w', 'w.id', 'd.drawing')
    .orderBy('d.name')
    .select('d.name', 'w.xml', 'w.card_ids');
  expect(drawings.map(({ name, card_ids }) => [name, card_ids])).toEqual([
    ['Of nothing', []],
    ['Packed', [here.id]],
    ['Plain', [here.id]],
  ]);
  const [, packed, plain] = drawings;
  expect(plain.xml).toBe(drawn(here.id, 'Ledger'));
  expect(unpackPage(/<diagram>(.*)<\/diagram>/.exec(packed.xml)![1]!, 10_000)).toBe(drawn(here.id, 'Ledger'));

  const again = await preview(target, parts);
  expect(again.diff!.kinds.process_content_elements).toMatchObject({ create: 0, conflict: 0 });
  // what is here already gets no further elements
  const more = addRows(parts, 'process_content_elements', [
    { id: '00000000-0000-4000-8000-000000000001', bpmn_element_id: 'evil' },
  ]);
  const { diff: planted } = await preview(target, more);
  expect(planted!.kinds.process_content_elements).toMatchObject({ create: 0, conflict: 1 });
}, 60_000);
