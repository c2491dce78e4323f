import { randomUUID } from 'node:crypto';
import { onNew, type Row, row } from '../matrix.row.ts';
import { made, type Role, type World } from '../world.ts';

type Kind = 'adr' | 'soaw';
const bodies = { adr: () => ({ title: randomUUID() }), soaw: () => ({ name: randomUUID() }) };
const draft = async (w: World, kind: Kind) => (await made(w, `/${kind}`, bodies[kind]())).id;
const path = (kind: Kind, id: string) => ({ path: { [`${kind}_id`]: id } });
const one = (kind: Kind, body?: object) => async (w: World) => ({
  ...path(kind, await draft(w, kind)),
  ...(body ? { body } : {}),
});

/** Somebody who can sign. */
async function signer(w: World): Promise<string> {
  return (await w.t.as('admin', 'signer')).userId;
}
async function inReview(w: World, kind: Kind, user: string): Promise<string> {
  const id = await draft(w, kind);
  await made(w, `/${kind}/${id}/request-signatures`, { user_ids: [user] });
  return id;
}
/** In review, with the caller among those who are asked, where the caller's role lets him sign. */
const asked = (kind: Kind, body?: object) => async (w: World, role: Role) => {
  const signs = !['viewer', 'integrator', 'participant', 'anonymous'].includes(role);
  const user = signs ? (await w.client(role)).userId : await signer(w);
  return { ...path(kind, await inReview(w, kind, user)), ...(body ? { body } : {}) };
};
async function signed(w: World, kind: Kind): Promise<string> {
  const client = await w.t.as('admin', 'signer');
  const id = await inReview(w, kind, client.userId);
  await client.post(`/api/v1/${kind}/${id}/sign`);
  return id;
}
async function linked(w: World) {
  const [adr_id, card_id] = [await draft(w, 'adr'), await w.card()];
  await made(w, `/adr/${adr_id}/cards`, { card_id });
  return { path: { adr_id, card_id } };
}

/** What both kinds have in common: viewers read, members write and sign. */
const shared = (kind: Kind): Row[] => {
  const url = `/api/v1/${kind}`;
  const id = `${url}/{${kind}_id}`;
  return [
    row(`GET ${url}`, '+ + + + - - 0'),
    row(`POST ${url}`, '+ + + - - - 0', () => ({ body: bodies[kind]() })),
    ...(kind === 'adr' ? [row(`GET ${url}/export`, '+ + + + - - 0', () => ({ query: 'search=none' }))] : []),
    row(`GET ${id}`, '+ + + + - - 0', one(kind)),
    row(`PATCH ${id}`, '+ + + - - - 0', one(kind, kind === 'adr' ? { decision: 'X' } : { name: 'X' })),
    row(`POST ${id}/request-signatures`, '+ + + - - - 0', async (w) => ({
      ...path(kind, await draft(w, kind)),
      body: { user_ids: [await signer(w)] },
    })),
    row(`POST ${id}/sign`, '+ + + - - - 0', asked(kind)),
    row(`POST ${id}/recall-signatures`, '+ + + - - - 0', async (w) =>
      path(kind, await inReview(w, kind, await signer(w))),
    ),
    row(`POST ${id}/replace-signatory`, '+ + + - - - 0', async (w) => {
      const user_id = await signer(w);
      const new_user_id = (await w.t.as('admin', 'other signer')).userId;
      return { ...path(kind, await inReview(w, kind, user_id)), body: { user_id, new_user_id } };
    }),
    row(`POST ${id}/reject`, '+ + + - - - 0', asked(kind, { comment: 'Why now?' })),
    row(`POST ${id}/revise`, '+ + + - - - 0', async (w) => path(kind, await signed(w, kind))),
    row(`GET ${id}/revisions`, '+ + + + - - 0', one(kind)),
    row(`GET ${id}/export`, '+ + + + - - 0', async (w) => ({
      ...(await one(kind)(w)),
      query: 'format=docx',
    })),
    row(`GET ${id}/comparison`, '+ + + + - - 0', async (w) => {
      const first = await signed(w, kind);
      return path(kind, (await made(w, `/${kind}/${first}/revise`)).id);
    }),
  ];
};

/** Decisions, statements of architecture work, and principles to hold them against. */
export const decisionRows: Row[] = [
  row('GET /principles-catalogue', '+ - - - - - 0'),
  row('POST /principles-catalogue/import', '+ - - - - - 0', () => ({
    body: { catalogue_ids: ['EAP-01'] },
  })),
  ...shared('adr'),
  ...shared('soaw'),
  row('DELETE /soaw/{soaw_id}', '+ + + - - - 0', one('soaw')),
  // drafts of others go by adr.delete, which only administrators hold
  row("DELETE /adr/{adr_id} (another's)", '+ - - - - - 0', one('adr')),
  row('DELETE /adr/{adr_id} (own)', '+ + + - - - 0', async (w, role) => {
    const writes = !['viewer', 'integrator', 'participant', 'anonymous'].includes(role);
    const client = await w.client(writes ? role : 'admin');
    return path('adr', (await client.post('/api/v1/adr', bodies.adr())).body.id);
  }),
  row('POST /adr/import', '+ + + - - - 0', () => ({
    raw: { mediaType: 'text/markdown', text: '# A decision\n' },
  })),
  row('POST /adr/{adr_id}/duplicate', '+ + + - - - 0', one('adr')),
  row('POST /adr/{adr_id}/cards', '+ + + - - - 0', async (w) => ({
    ...path('adr', await draft(w, 'adr')),
    body: { card_id: await w.card() },
  })),
  row('DELETE /adr/{adr_id}/cards/{card_id}', '+ + + - - - 0', linked),
  row(
    'GET /adr/by-card/{card_id}',
    '+ + + + - - 0',
    onNew('card_id', (w) => w.card()),
  ),
];
