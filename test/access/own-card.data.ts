import { randomUUID } from 'node:crypto';
import { postFile } from '../support/forms.ts';
import { groups } from './groups.ts';
import { elementOf, flowOf, putDiagram, xml } from './matrix/bpm.data.ts';
import { diagram } from './matrix/diagrams.data.ts';
import { type Call, formOf, numberOf } from './matrix.row.ts';
import type { CardRow } from './own-card.row.ts';
import { made, type World } from './world.ts';

const row = (path: string, call: CardRow['call'] = onIt): CardRow => ({
  operation: path.replace(' ', ' /api/v1'),
  call,
});

const ofProcess = (operation: string, call: CardRow['call'] = onProcess()): CardRow => ({
  ...row(operation.replace(' ', ' /bpm/processes/{process_id}'), call),
  type: 'BusinessProcess',
});
const onProcess =
  (body?: unknown): CardRow['call'] =>
  (_, process_id) => ({ path: { process_id }, ...(body ? { body } : {}) });
/** A process with a diagram that the administrator has saved. */
const drawn =
  (call: CardRow['call'] = onProcess()): CardRow['call'] =>
  async (w, card) => {
    await putDiagram(w, card);
    return call(w, card);
  };

const flow =
  (status: 'draft' | 'pending' = 'draft', more: Call = {}): CardRow['call'] =>
  async (w, process_id) => ({
    ...more,
    path: { process_id, version_id: await flowOf(w, process_id, status), ...more.path },
  });

const onIt: CardRow['call'] = (_, card) => ({ path: { id: card } });
const onItWith =
  (body: unknown): CardRow['call'] =>
  (_, card) => ({ path: { id: card }, body });
const cardIds: CardRow['call'] = (_, card) => ({ body: { card_ids: [card] } });

/** Something of the kind that the administrator has put on the card. */
const thing =
  (what: string, content: object, body?: unknown): CardRow['call'] =>
  async (w, card) => {
    const { id } = await made(w, `/cards/${card}/${what}`, content);
    return { path: { id }, ...(body ? { body } : {}) };
  };
const comment = (body?: unknown) => thing('comments', { content: 'Said.' }, body);
const link = (body?: unknown) => thing('documents', { name: 'Linked' }, body);
const person = (body?: unknown): CardRow['call'] => {
  return async (w, card) =>
    thing('stakeholders', { user_id: await w.user(), role: 'observer' }, body)(w, card);
};

const file =
  (body?: unknown): CardRow['call'] =>
  async (w, card) => {
    const url = `/api/v1/cards/${card}/file-attachments`;
    const { id } = (await postFile(await w.client('admin'), url, 'note.txt', 'A note.')).body;
    return { path: { id }, ...(body ? { body } : {}) };
  };

const archived =
  (call: CardRow['call']): CardRow['call'] =>
  async (w, card) => {
    await made(w, `/cards/${card}/archive`);
    return call(w, card);
  };

const tag = async (w: World): Promise<string> => {
  const group = await made(w, '/tag-groups', { name: randomUUID() });
  return (await made(w, `/tag-groups/${group.id}/tags`, { name: 'Tagged' })).id;
};

/** A card that is touched together with the given one: whoever may act on that may act on it as well. */
async function twin(w: World, card: string): Promise<string> {
  const other = await w.card();
  const { db } = w.t.services;
  for (const { user_id, role } of await db('stakeholders').where({ card_id: card }))
    await w.stakeholder(other, user_id, role);
  return other;
}

/** The other end of a relation: whoever holds a role on the given card sees it, and has no right on it. */
async function component(w: World, card: string): Promise<string> {
  const other = await w.card({ type: 'ITComponent' });
  const holders: string[] = await w.t.services.db('stakeholders').where({ card_id: card }).pluck('user_id');
  for (const user of holders) await w.stakeholder(other, user, 'observer');
  return other;
}
const toComponent = async (w: World, card: string) => ({
  type: 'relAppToITC',
  source_id: card,
  target_id: await component(w, card),
});
const relation =
  (body?: unknown): CardRow['call'] =>
  async (w, card) => {
    const { id } = await made(w, '/relations', await toComponent(w, card));
    return { path: { id }, ...(body ? { body } : {}) };
  };

export const cardRows: CardRow[] = [
  ...groups.flatMap((group) => group.cardRows),
  row('GET /cards/{id}'),
  row('GET /card-numbers/{number}', async (w, id) => ({ path: { number: await numberOf(w, id) } })),
  row('PATCH /cards/{id}', onItWith({ alias: 'Changed' })),
  row('DELETE /cards/{id}', archived(onIt)),
  row('GET /cards/{id}/hierarchy'),
  row('GET /cards/{id}/overview'),
  row('GET /cards/{id}/sources'),
  row('GET /cards/{id}/history'),
  row('GET /cards/{id}/my-permissions'),
  row('GET /cards/{id}/relation-summary'),
  row('GET /cards/{id}/impact'),
  row('GET /cards/{id}/paths', (_, id) => ({ path: { id }, query: `to=${id}` })),
  row('GET /cards/{id}/archive-impact'),
  row('GET /cards/{id}/restore-impact', archived(onIt)),
  row('POST /cards/{id}/archive'),
  row('POST /cards/{id}/restore', archived(onIt)),
  row('POST /cards/{id}/approval-status', (_, id) => ({ path: { id }, query: 'action=reject' })),

  row('PATCH /cards/bulk', (_, id) => ({ body: { ids: [id], updates: { alias: 'Changed' } } })),
  row('POST /cards/bulk-approval', (_, id) => ({ body: { card_ids: [id], action: 'reject' } })),
  row('POST /cards/bulk-archive', cardIds),
  row('POST /cards/bulk-delete', archived(cardIds)),
  row('POST /cards/bulk-restore', archived(cardIds)),
  row('POST /cards/bulk-tags', async (w, id) => ({ body: { card_ids: [id], add: [await tag(w)] } })),
  row('POST /cards/merge', async (w, id) => ({
    body: { survivor_id: await twin(w, id), merged_ids: [id] },
  })),
  row('POST /card-merges/{id}/undo', async (w, survivor_id) => {
    const merged = await made(w, '/cards/merge', { survivor_id, merged_ids: [await twin(w, survivor_id)] });
    return { path: { id: merged.merge_id } };
  }),

  row('POST /relations', async (w, card) => ({ body: await toComponent(w, card) })),
  row('PATCH /relations/{id}', relation({ description: 'Changed.' })),
  row('DELETE /relations/{id}', relation()),
  row('POST /relations/bulk', async (w, card) => {
    const { type, source_id, target_id } = await toComponent(w, card);
    return {
      body: {
        operations: [
          { row_index: 0, action: 'upsert', type, source: { id: source_id }, target: { id: target_id } },
        ],
      },
      refused: ({ results }) => results[0]!.code !== null,
    };
  }),

  row('POST /cards/{id}/tags', async (w, id) => ({ path: { id }, body: [await tag(w)] })),
  row('DELETE /cards/{id}/tags/{tag_id}', async (w, id) => {
    const tag_id = await tag(w);
    await made(w, `/cards/${id}/tags`, [tag_id]);
    return { path: { id, tag_id } };
  }),
  row('POST /favorites/{card_id}', (_, card_id) => ({ path: { card_id } })),

  ofProcess('GET /diagram', drawn()),
  ofProcess('GET /diagram/versions', drawn()),
  ofProcess('GET /diagram/export/bpmn', drawn()),
  ofProcess('GET /diagram/export/svg', drawn()),
  ofProcess('GET /elements', drawn()),
  ofProcess('GET /flow/published'),
  ofProcess('PUT /diagram', onProcess({ bpmn_xml: xml })),
  ofProcess('DELETE /diagram', drawn()),
  ofProcess('POST /diagram/import', (_, process_id) => ({
    path: { process_id },
    ...formOf({ filename: 'p.bpmn', content: xml }),
  })),
  ofProcess('PUT /elements/{element_id}', async (w, process_id) => ({
    path: { process_id, element_id: await elementOf(w, process_id) },
    body: { custom_fields: { minutes: 5 } },
  })),

  ofProcess('GET /flow/drafts'),
  ofProcess('POST /flow/drafts', onProcess({ bpmn_xml: xml })),
  ofProcess('GET /flow/archived'),
  ofProcess('GET /flow/permissions'),
  ofProcess('GET /flow/compare', async (w, process_id) => {
    const id = await flowOf(w, process_id);
    return { path: { process_id }, query: `base_id=${id}&other_id=${id}` };
  }),
  ofProcess('GET /flow/versions/{version_id}', flow()),
  ofProcess('PATCH /flow/versions/{version_id}', flow('draft', { body: { bpmn_xml: xml } })),
  ofProcess('DELETE /flow/versions/{version_id}', flow()),
  ofProcess('POST /flow/versions/{version_id}/submit', flow()),
  ofProcess('POST /flow/versions/{version_id}/approve', flow('pending')),
  ofProcess('POST /flow/versions/{version_id}/reject', flow('pending')),
  ofProcess('GET /flow/versions/{version_id}/draft-elements', flow()),
  ofProcess(
    'PUT /flow/versions/{version_id}/draft-elements/{bpmn_element_id}',
    flow('draft', { path: { bpmn_element_id: 't1' }, body: { custom_fields: { minutes: 5 } } }),
  ),

  row('GET /cards/{id}/stakeholders'),
  row('POST /cards/{id}/stakeholders', async (w, id) => ({
    path: { id },
    body: { user_id: await w.user(), role: 'observer' },
  })),
  row('PATCH /stakeholders/{id}', person({ role: 'responsible' })),
  row('DELETE /stakeholders/{id}', person()),
  row('GET /cards/{id}/me/observe'),
  row('POST /cards/{id}/me/observe'),
  row('DELETE /cards/{id}/me/observe'),

  row('GET /cards/{id}/comments'),
  row('POST /cards/{id}/comments', onItWith({ content: 'Said.' })),
  row('PATCH /comments/{id}', comment({ content: 'Said otherwise.' })),
  row('DELETE /comments/{id}', comment()),
  row('GET /cards/{id}/todos'),
  row('POST /cards/{id}/todos', onItWith({ description: 'Do it' })),
  row('GET /cards/{id}/documents'),
  row('POST /cards/{id}/documents', onItWith({ name: 'Linked' })),
  row('PATCH /documents/{id}', link({ name: 'Renamed' })),
  row('DELETE /documents/{id}', link()),
  row('GET /adr/by-card/{card_id}', (_, card_id) => ({ path: { card_id } })),
  row('POST /adr/{adr_id}/cards', async (w, card_id) => ({
    path: { adr_id: (await made(w, '/adr', { title: randomUUID() })).id },
    body: { card_id },
  })),
  row('DELETE /adr/{adr_id}/cards/{card_id}', async (w, card_id) => {
    const { id: adr_id } = await made(w, '/adr', { title: randomUUID() });
    await made(w, `/adr/${adr_id}/cards`, { card_id });
    return { path: { adr_id, card_id } };
  }),
  row('GET /cards/{id}/file-attachments'),
  row('POST /cards/{id}/file-attachments', (_, id) => ({
    path: { id },
    ...formOf({ filename: 'note.txt', content: 'A note.' }),
  })),
  row('GET /file-attachments/{id}/download', file()),
  row('POST /file-attachments/{id}/ticket', file()),
  row('PATCH /file-attachments/{id}', file({ category: null })),
  row('DELETE /file-attachments/{id}', file()),

  row('POST /diagrams/{diagram_id}/cards', async (w, card_id) => ({
    path: { diagram_id: await diagram(w) },
    body: { card_id },
  })),
  row('DELETE /diagrams/{diagram_id}/cards/{card_id}', async (w, card_id) => ({
    path: { diagram_id: await diagram(w, { card_ids: [card_id] }), card_id },
  })),
];
