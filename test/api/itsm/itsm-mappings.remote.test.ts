import { randomUUID } from 'node:crypto';
import { authority, serverCertificate } from '../../emulators/certificates.ts';
import { populate } from '../../emulators/servicenow/landscape.ts';
import { startServiceNow } from '../../emulators/servicenow/server.ts';
import { answered, closeAfterAll, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const base = '/api/v1/itsm-sync/mappings';
const connections = '/api/v1/itsm-sync/connections';

const { db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const instance = closeAfterAll(await startServiceNow({ tls: serverCertificate }));
populate(instance, { items: { cmdb_ci_business_app: 4, cmdb_ci_linux_server: 2 }, relations: 3 });
const answer = await admin.post(connections, {
  name: 'Instance',
  instance_url: instance.base,
  username: 'estate',
  password: 'secret',
  ca: authority,
});
const connection: string = answer.body.id;

const name = { card_field: 'name', remote_field: 'name', is_identity: true };
const create = async (more: object = {}): Promise<string> =>
  (
    await admin.create(base, {
      connection_id: connection,
      card_type_key: 'Application',
      remote_table: 'cmdb_ci_business_app',
      field_mappings: [name],
      ...more,
    })
  ).id;
/** A mapping that is gone after the look at it. */
async function on<T>(more: object, look: (id: string) => Promise<T>): Promise<T> {
  const id = await create(more);
  const found = await look(id);
  await ok(admin.delete(`${base}/${id}`), 204);
  return found;
}
const problemsOf = (more: object) => on(more, (id) => ok(admin.post(`${base}/${id}/validate`)));
const field = (
  card_field: string,
  remote_field: string,
  transform_type?: string,
  transform_config?: object,
) => ({ field_mappings: [name, { card_field, remote_field, transform_type, transform_config }] });

describe('the validation of a mapping', () => {
  it('finds no problem, and stores the dictionary', () =>
    on(
      {
        sync_direction: 'bidirectional',
        filter_query: 'operational_status=1^company.name=Contoso',
        record_defaults: { operational_status: '1' },
        field_mappings: [
          name,
          { card_field: 'description', remote_field: 'short_description' },
          { card_field: 'attributes.costTotalAnnual', remote_field: 'cost' },
          { card_field: 'lifecycle.active', remote_field: 'install_date', transform_type: 'date_format' },
        ],
      },
      async (id) => {
        expect((await admin.post(`${base}/${id}/validate`)).body).toEqual({ valid: true, problems: [] });
        const { body } = await admin.get(`${base}/${id}`);
        expect(body.dictionary_at).not.toBeNull();
        const [event] = await db('events')
          .where({ event_type: 'itsm_mapping.validated' })
          .whereRaw(`data ->> 'id' = ?`, [id]);
        expect(event.data.changes.dictionary_at.new).toBe(body.dictionary_at);
        const { mapped } = (await admin.get(`${base}/${id}/coverage`)).body.columns;
        expect(mapped).toEqual(['cost', 'install_date', 'name', 'operational_status', 'short_description']);
      },
    ));

  const at = 'field_mappings.1.';
  const push = { sync_direction: 'push' };
  it.each([
    [{ remote_table: 'cmdb_ci_no_such' }, 'remote_table', 'unknown_table', 'error'],
    [field('alias', 'u_no_such'), `${at}remote_field`, 'unknown_column', 'error'],
    [field('alias', 'company.name'), undefined, undefined, undefined],
    [{ ...field('alias', 'company.name'), ...push }, `${at}remote_field`, 'readonly', 'error'],
    [{ ...field('alias', 'sys_id'), ...push }, `${at}remote_field`, 'readonly', 'error'],
    [field('alias', 'company'), `${at}remote_field`, 'column_kind', 'warning'],
    [field('attributes.costTotalAnnual', 'install_date'), `${at}remote_field`, 'column_kind', 'error'],
    [field('lifecycle.active', 'last_discovered'), `${at}transform_type`, 'column_kind', 'error'],
    [
      field('lifecycle.active', 'last_discovered', 'date_format'),
      `${at}transform_config.remote`,
      'column_kind',
      'error',
    ],
    [
      field('alias', 'install_status', 'value_map', { pairs: [{ remote: '99', local: 'x' }] }),
      `${at}transform_config.pairs.0.remote`,
      'unknown_choice',
      'warning',
    ],
    [
      field('alias', 'install_status', 'value_map', { pairs: [{ remote: '1', local: 'x' }] }),
      `${at}transform_config`,
      'choice_not_mapped',
      'warning',
    ],
    [{ filter_query: 'no_such=1' }, 'filter_query', 'unknown_column', 'error'],
    [
      { ...push, record_defaults: { install_status: '99' } },
      'record_defaults.install_status',
      'unknown_choice',
      'error',
    ],
  ])('%j: %s %s %s', async (more, where, code, level) => {
    const { valid, problems } = await problemsOf(more);
    expect(problems[0]).toEqual(where && { field: where, code, level, message: expect.stringMatching(/\S/) });
    expect(valid).toBe(level !== 'error');
  });

  it('names the key of a relation type that was given by name', async () => {
    const [kind] = (await ok(admin.get(`${connections}/${connection}/relation-types?search=depends`))).items;
    expect(kind.name).toBe('Depends on::Used by');
    const { rows } = await db.raw(`select key from relation_types where source_type_key = 'Application'
        and target_type_key = 'Application' limit 1`);
    const relations = (remote_type: string) => ({
      relation_mappings: [{ relation_type_key: rows[0].key, remote_type }],
    });
    expect(await problemsOf(relations(kind.id))).toEqual({ valid: true, problems: [] });
    expect((await problemsOf(relations(kind.name))).problems[0].message).toContain(kind.id);
  });

  it('warns of texts that are too long for a column', async () => {
    const card = await admin.card({ name: 'n'.repeat(300) });
    const { problems } = await problemsOf(push);
    const message = expect.stringMatching(/: the remote refuses or truncates the longer texts of 1 card$/);
    expect(problems).toEqual([expect.objectContaining({ code: 'too_short', level: 'warning', message })]);
    await admin.delete(`/api/v1/cards/${card.id}`);
  });

  it('fails for an unknown mapping, a paused connection, and a refusal of the remote', async () => {
    await expectProblem(admin.post(`${base}/${randomUUID()}/validate`), 404);
    await expectProblem(admin.post(`${base}/${randomUUID()}/preview`), 404);
    await expectProblem(admin.get(`${base}/${randomUUID()}/coverage`), 404);
    const id = await create();
    await admin.patch(`${connections}/${connection}`, { is_active: false });
    for (const what of ['validate', 'preview'])
      await expectProblem(admin.post(`${base}/${id}/${what}`), 409, 'wrong_state');
    await admin.patch(`${connections}/${connection}`, { is_active: true, password: 'wrong' });
    for (const what of ['validate', 'preview']) {
      const answer = await admin.post(`${base}/${id}/${what}`);
      expect([answer.status, answer.body.failure]).toEqual([502, 'credentials_refused']);
    }
    await admin.patch(`${connections}/${connection}`, { password: 'secret' });
    await admin.delete(`${base}/${id}`);
  });
});

it('a preview shows both sides and writes to neither', async () => {
  const names = ['Application 1', 'Application 2', 'Application 2'];
  const parents = await admin.post('/api/v1/cards', { type: 'Application', name: 'Parent' });
  const cards: string[] = [];
  for (const [index, each] of names.entries()) {
    const more = index === 2 ? { parent_id: parents.body.id } : {};
    cards.push((await admin.post('/api/v1/cards', { type: 'Application', name: each, ...more })).body.id);
  }
  await on(
    {
      sync_direction: 'bidirectional',
      field_mappings: [
        name,
        {
          card_field: 'attributes.businessCriticality',
          remote_field: 'environment',
          transform_type: 'value_map',
          transform_config: { pairs: [{ remote: 'Production', local: 'missionCritical' }] },
        },
        { card_field: 'attributes.costTotalAnnual', remote_field: 'cost' },
      ],
    },
    async (id) => {
      const records = [...instance.store.of('cmdb_ci_business_app')];
      const recordOf = (text: string) => records.find(({ values }) => values.name === text)!.values.sys_id!;
      await db('itsm_pairs').insert({
        mapping_id: id,
        remote_id: recordOf('Application 3'),
        card_id: parents.body.id,
        origin: 'linked',
        state: 'linked',
      });
      const writes = instance.writes.length;
      const { body } = await answered(admin.post(`${base}/${id}/preview?limit=50`));
      expect(body.total).toBe(4);
      const about = (text: string) =>
        body.records.find((record: { remote_id: string }) => record.remote_id === recordOf(text));
      expect(about('Application 0')).toMatchObject({
        remote_data: { name: 'Application 0', cost: '0' },
        mapped: { name: 'Application 0', 'attributes.costTotalAnnual': 0 },
        match: { kind: 'new', card_id: null },
      });
      expect(about('Application 1').problems['attributes.businessCriticality']).toContain(
        "no entry for 'Test'",
      );
      const { match } = about('Application 1');
      expect(match).toMatchObject({ kind: 'link', card_id: cards[0], card_name: names[0] });
      expect(about('Application 2').match.candidates).toHaveLength(2);
      expect(about('Application 3').match).toMatchObject({ kind: 'linked', card_name: 'Parent' });
      const outgoing = pluck(body.cards, 'card_id');
      expect(outgoing.slice(-3)).toEqual(cards);
      expect(outgoing).not.toContain(parents.body.id);
      expect(body.cards.at(-1).mapped).toMatchObject({ name: 'Application 2', cost: null });
      const some = await admin.post(`${base}/${id}/preview?remote_ids=${recordOf('Application 0')},none`);
      expect(some.body.total).toBe(1);
      expect(instance.writes).toHaveLength(writes);
      const coverage = await admin.get(`${base}/${id}/coverage`);
      expect(coverage.body).toMatchObject({
        columns: null,
        cards: { paired: 1 },
        records: { read: null, paired: 1, outside: null },
        pairs: { linked: 1, quarantined: 0 },
        questions: { conflict: 0, match: 0 },
      });
      expect(coverage.body.fields.unmapped).toContain('description');
      expect(coverage.body.cards.total).toBe(coverage.body.cards.in_filter);
    },
  );
});
