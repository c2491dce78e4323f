// @redis
import { randomUUID } from 'node:crypto';
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { modelFaults } from '../../support/archimate.ts';
import {
  createTestApp,
  expectProblem,
  jsonLines,
  ok,
  type TestApp,
  type TestClient,
} from '../../support/harness.ts';
import { type JobRow, untilStatus } from '../../support/jobs.ts';

type Place = { t: TestApp; admin: TestClient; workers: Workers };

const open = async (): Promise<Place> => {
  const t = await createTestApp();
  return { t, admin: await t.as('admin'), workers: await startWorkers(t.services) };
};
const close = async ({ t, workers }: Place) => {
  await workers.close(5_000);
  await t.close();
};

const [from, to] = [await open(), await open()];

afterAll(async () => {
  await close(from);
  await close(to);
});

const made = async ({ admin }: Place, url: string, body: object) => await admin.create(`/api/v1${url}`, body);
async function exported(place: Place, client = place.admin, body: object = {}): Promise<string> {
  const answer = await ok(client.post('/api/v1/archimate/exports', body), 202);
  await untilStatus(place.t.services, answer.job_id, 'succeeded');
  return (await client.get(`/api/v1/jobs/${answer.job_id}/result`)).text;
}
async function imported(place: Place, xml: string | Buffer, query = '', status = 'succeeded') {
  const answer = await ok(
    place.admin.request({
      method: 'POST',
      url: `/api/v1/archimate/imports?report=all${query}`,
      headers: { 'content-type': 'application/xml' },
      payload: xml,
    }),
    202,
  );
  const job: JobRow = await untilStatus(place.t.services, answer.job_id, status);
  if (status !== 'succeeded') return { job, report: [] };
  return { job, report: jsonLines((await place.admin.get(`/api/v1/jobs/${job.id}/result`)).text) };
}

describe('a model of this service', () => {
  it('loses nothing on its way into an empty one and out again', async () => {
    const parent = await made(from, '/cards', {
      type: 'Application',
      name: 'Suite <&> "x" \' ü 😀',
      description: 'Lines\r\nand\ttabs \u0001 and ]]> more\n',
      external_id: 'APP-1',
      lifecycle: { active: '2020-01-01' },
      attributes: {
        businessCriticality: 'missionCritical',
        costTotalAnnual: 12.5,
        commercialApplication: true,
      },
    });
    const app = await made(from, '/cards', {
      type: 'Application',
      subtype: 'microservice',
      name: 'Payroll',
      parent_id: parent.id,
    });
    const server = await made(from, '/cards', { type: 'ITComponent', name: 'Server' });
    const data = await made(from, '/cards', { type: 'DataObject', name: '  Spaced  ' });
    await made(from, '/relations', {
      type: 'relAppToITC',
      source_id: app.id,
      target_id: server.id,
      description: 'Runs\non it',
      attributes: { costTotalAnnual: 3 },
    });
    await made(from, '/relations', { type: 'relAppToDataObj', source_id: app.id, target_id: data.id });
    await from.admin.post(`/api/v1/cards/${server.id}/archive`);
    const group = await made(from, '/diagram-groups', { name: 'Target', color: '#112233', sort_order: 4 });
    const xml = `<mxGraphModel><root><mxCell id="0"/><object id="a" label="Payroll" cardId="${app.id}"><mxCell vertex="1" parent="0"><mxGeometry x="-5" y="10" width="100" height="40"/></mxCell></object><object id="b" label="Data" cardId="${data.id}"><mxCell vertex="1" parent="0"><mxGeometry x="200" y="10" width="100" height="40"/></mxCell></object><mxCell edge="1" source="a" target="b" parent="0"/></root></mxGraphModel>`;
    const diagram = await made(from, '/diagrams', {
      name: 'Around payroll',
      description: 'Said',
      data: { xml, zoom: 2 },
      card_ids: [app.id],
    });
    await from.admin.put(`/api/v1/diagrams/${diagram.id}/groups`, { group_ids: [group.id] });
    await made(from, '/diagrams', { name: 'Mine', visibility: 'private' });
    const [sharer] = await Promise.all([from, to].map(({ t }) => t.as('member', 'sharer')));
    await made(from, '/diagrams', {
      name: 'Ours',
      visibility: 'shared',
      shared_with: [{ user_id: sharer!.userId, can_edit: true }],
    });

    const first = await exported(from);
    expect(modelFaults(first)).toEqual([]);
    expect(first).toContain('<propertyDefinition ');
    expect(first).toMatch(/<connection [^>]*relationshipRef="id-/);
    expect(first).toMatch(/x="0" y="0" w="100" h="40"|x="0" y="10" w="100" h="40"/);
    // a dry run tells the same and writes nothing
    const tried = await imported(to, first, '&dry_run=true');
    expect((await to.admin.get('/api/v1/cards?page_size=1')).body.total).toBe(0);
    const done = await imported(to, first);
    expect(done.report.filter(({ outcome }: { outcome: string }) => outcome === 'failed')).toEqual([]);
    expect(tried.job.counts).toEqual(done.job.counts);
    expect(done.job.counts).toEqual({ total: 9, created: 9, updated: 0, unchanged: 0, failed: 0 });
    expect(await exported(to)).toBe(first);
    expect((await to.admin.get('/api/v1/diagram-groups')).body.items).toMatchObject([
      { name: 'Target', color: '#112233', sort_order: 4, diagram_count: 1 },
    ]);
    const again = await imported(to, first, '&mode=upsert');
    expect(again.job.counts).toMatchObject({ created: 0, updated: 0, unchanged: 9, failed: 0 });

    // the whole import is one batch, which can be rolled back
    const { batch_id } = await to.t.services.db('events').where({ job_id: done.job.id }).first('batch_id');
    await to.admin.undo(batch_id);
    expect((await to.admin.get('/api/v1/cards?page_size=1')).body.total).toBe(0);
    expect((await to.admin.get('/api/v1/diagrams?page_size=1')).body.total).toBe(0);
  });

  it('holds no costs, and no private diagrams, for those who may not see them', async () => {
    const xml = await exported(from, await from.t.as('viewer'));
    expect(xml).not.toContain('costTotalAnnual');
    expect(xml).toContain('Around payroll');
    expect(xml).not.toContain('Mine');
    const some = await exported(from, from.admin, { types: ['DataObject'], views: false });
    expect(modelFaults(some)).toEqual([]);
    expect(some).not.toMatch(/ApplicationComponent|<relationship |<view/);
  });
});

describe('a model of another tool', () => {
  const model = (content: string) =>
    `<?xml version="1.0" encoding="UTF-8"?><model xmlns="http://www.opengroup.org/xsd/archimate/3.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" identifier="m"><name>M</name>${content}</model>`;
  const element = (id: string, type: string, name = id) =>
    `<element identifier="${id}" xsi:type="${type}"><name xml:lang="en">${name}</name></element>`;
  const relationship = (id: string, type: string, source: string, target: string) =>
    `<relationship identifier="${id}" xsi:type="${type}" source="${source}" target="${target}"/>`;

  it('becomes cards, relations in their direction, parents and drawings, and tells what does not fit', async () => {
    const text =
      model(`<elements>${element('app', 'ApplicationComponent', 'Shop')}${element('part', 'ApplicationComponent')}
      ${element('node', 'Node')}${element('gap', 'Gap')}${element('', 'Goal', '')}</elements><relationships>
      ${relationship('r1', 'Serving', 'node', 'app')}${relationship('r2', 'Composition', 'app', 'part')}
      ${relationship('r3', 'Association', 'gap', 'app')}${relationship('r4', 'Flow', 'node', 'node')}</relationships>
      <views><diagrams><view identifier="v" xsi:type="Diagram"><name>Overview</name>
      <node identifier="n1" elementRef="app" xsi:type="Element" x="10" y="20" w="120" h="55"><node identifier="n2" elementRef="part" xsi:type="Element" x="15" y="30" w="60" h="20"/></node>
      <node identifier="n3" xsi:type="Label" x="0" y="0" w="9" h="9"><label>A note</label></node>
      <connection identifier="c" source="n1" target="n2" xsi:type="Line"/></view></diagrams></views>`);
    const { job, report } = await imported(from, text);
    expect(report.map(({ identifier, outcome, errors }) => [identifier, outcome, errors[0]?.code])).toEqual([
      ['app', 'created', undefined],
      ['part', 'created', undefined],
      ['node', 'created', undefined],
      ['gap', 'failed', 'unmapped_type'],
      ['', 'failed', expect.any(String)],
      ['r1', 'created', undefined],
      ['r3', 'failed', 'unknown_end'],
      ['r4', 'failed', expect.any(String)],
      ['v', 'created', undefined],
    ]);
    expect(job.counts).toMatchObject({ total: 9, created: 5, failed: 4 });
    const [shop] = (await from.admin.get('/api/v1/cards?search=Shop')).body.items;
    expect(shop).toMatchObject({ type: 'Application', external_id: 'app' });
    const [part] = (await from.admin.get('/api/v1/cards?search=part')).body.items;
    expect(part.parent_id).toBe(shop.id);
    const relations = (await from.admin.get(`/api/v1/relations?card_id=${shop.id}`)).body.items;
    expect(relations).toMatchObject([{ type: 'relAppToITC', source_id: shop.id }]);
    const [view] = (await from.admin.get('/api/v1/diagrams?search=Overview')).body.items;
    const drawn = (await from.admin.get(`/api/v1/diagrams/${view.id}`)).body;
    expect(drawn.card_refs.sort()).toEqual([shop.id, part.id].sort());
    expect(drawn.data.xml).toContain('value="A note"');
    // the same model again makes nothing twice, views included
    const again = await imported(from, text, '&mode=upsert');
    expect(again.job.counts).toMatchObject({ created: 0, unchanged: 5 });
    expect((await from.admin.get('/api/v1/diagrams?search=Overview')).body.total).toBe(1);
    expect(again.report.find(({ identifier }) => identifier === 'r3').errors[0].field).toBe('source');
  });

  it('reports what no relation type says, and counts what is not kept', async () => {
    const text = model(`<elements>
      <element identifier="a1" xsi:type="ApplicationComponent"><name xml:lang="en">Billing desk</name><name xml:lang="de">Rechnungen</name>
      <properties><property propertyDefinitionRef="p1"><value>Ann</value><value xml:lang="de">Anne</value></property></properties></element>
      ${element('a2', 'ApplicationCollaboration', 'Billing archive')}${element('a3', 'ApplicationComponent', 'Billing part')}
      ${element('d1', 'BusinessObject', 'Bill')}</elements><relationships>
      ${relationship('f1', 'Flow', 'a1', 'a2')}${relationship('f2', 'Assignment', 'a1', 'a2')}${relationship('f3', 'Association', 'a1', 'a2')}
      <relationship identifier="f4" xsi:type="Access" accessType="Read" source="a1" target="d1"><name>reads</name></relationship>
      ${relationship('f5', 'Aggregation', 'a1', 'a3')}${relationship('f6', 'Composition', 'a2', 'a3')}</relationships>
      <organizations><item><label>Applications</label><item identifierRef="a1"/><item identifierRef="a2"/></item></organizations>
      <propertyDefinitions><propertyDefinition identifier="p1" type="string"><name>Owner</name></propertyDefinition></propertyDefinitions>`);
    const { job, report } = await imported(from, text);
    const lines = new Map(report.map((line) => [line.identifier, line]));
    for (const id of ['f1', 'f2', 'f3']) expect(lines.get(id).errors[0].code).toBe('unmapped_type');
    expect(lines.get('f1').errors[0].message).toContain('Flow from Application to Application');
    expect(lines.get('f6').errors[0].code).toBe('second_parent');
    expect(lines.get('a1').not_imported).toEqual({ properties: ['Owner'], languages: 2 });
    expect(lines.get('a2').not_imported).toEqual({ type: 'ApplicationCollaboration' });
    expect(lines.get('f4').not_imported).toEqual({ name: 'reads', attributes: ['accessType'] });
    expect(lines.has('f5')).toBe(false);
    expect(job.result?.not_imported).toEqual({
      properties: 1,
      names: 1,
      languages: 2,
      types: 3,
      attributes: 1,
      folder_entries: 2,
    });
    const [first] = (await from.admin.get('/api/v1/cards?search=Billing%20desk')).body.items;
    const relations = (await from.admin.get(`/api/v1/relations?card_id=${first.id}`)).body.items;
    expect(relations).toMatchObject([{ type: 'relAppToDataObj', source_id: first.id }]);
  });

  it('is read in the encoding that it declares, and refused where its bytes are not in it', async () => {
    const text = (encoding: string, name: string) =>
      Buffer.from(
        model(`<elements>${element('encoded', 'ApplicationComponent', name)}</elements>`).replace(
          'encoding="UTF-8"',
          `encoding="${encoding}"`,
        ),
        'latin1',
      );
    const { report } = await imported(from, text('windows-1252', 'K\xe4se desk'));
    expect(report[0]).toMatchObject({ name: 'Käse desk', outcome: 'created' });
    const { job } = await imported(from, text('UTF-8', 'K\xe4se desk 2'), '', 'failed');
    expect(job.error?.message ?? job.error).toMatch(/its bytes are not utf-8/);
  });

  it('is refused whole where it is none', async () => {
    for (const text of [
      '<svg/>',
      '<model/>',
      model('<elements>'),
      `<!DOCTYPE model [<!ENTITY a "aaaa">]>${model('')}`,
      model('&a;'),
    ])
      expect((await imported(from, text, '', 'failed')).job.error?.code).toBe('validation_failed');
    await expectProblem(
      from.admin.request({
        method: 'POST',
        url: '/api/v1/archimate/imports',
        headers: { 'content-type': 'text/plain' },
        payload: 'x',
      }),
      415,
    );
    const unknown = await from.admin.post('/api/v1/archimate/exports', { types: [randomUUID()] });
    expect(unknown.body.errors[0].field).toBe('types.0');
  });
});
