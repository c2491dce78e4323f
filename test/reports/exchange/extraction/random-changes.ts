import type { TestClient } from '../../../support/harness.ts';

/** Pseudo-random numbers in [0, 1) that are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What random changes are made of. */
export interface Landscape {
  cards: string[];
  tags: string[];
  groups: string[];
  users: string[];
  relations: string[];
  stakeholders: string[];
  merges: string[];
}

type Change = (l: Landscape, pick: Picker) => Promise<unknown>;

type Picker = { number(below: number): number; of<T>(list: readonly T[]): T };

const types = ['Application', 'ITComponent', 'BusinessCapability'];
const relationTypes = ['relAppToITC', 'relAppToBC'];

/**
 * Every kind of change, by one client; what is refused changes nothing, and anything but a refusal throws.
 * @param but which kinds are left out.
 */
export function randomChanges(client: TestClient, seed: number, but: { metamodel?: false } = {}) {
  const next = randomNumbers(seed);
  const pick: Picker = {
    number: (below) => Math.floor(next() * below),
    of: (list) => list[Math.floor(next() * list.length)]!,
  };
  let n = 0;
  const name = () => {
    n += 1;
    return `Name ${seed}.${n}`;
  };
  const made = async (list: string[], method: 'post' | 'patch', path: string, body: object) => {
    const answer = await client[method](`/api/v1/${path}`, body);
    if (answer.status >= 500) throw new Error(`${path}: ${answer.text}`);
    if (answer.status < 300 && answer.body?.id) list.push(answer.body.id);
    return answer;
  };
  const nothing: string[] = [];
  const patch = (path: string, body: object) => made(nothing, 'patch', path, body);
  const post = (path: string, body: object) => made(nothing, 'post', path, body);
  const remove = async (path: string) => {
    const answer = await client.delete(`/api/v1/${path}`);
    if (answer.status >= 500) throw new Error(`${path}: ${answer.text}`);
  };

  // most pairs do not fit a type
  const related = async (l: Landscape) => {
    for (let tries = 0; tries < 6; tries += 1) {
      const body = { type: pick.of(relationTypes), source_id: pick.of(l.cards), target_id: pick.of(l.cards) };
      if ((await made(l.relations, 'post', 'relations', body)).status === 201) return;
    }
  };
  const metamodelChanges: Change[] = [
    () => patch(`metamodel/types/${pick.of(types)}`, { is_hidden: pick.number(3) === 0 }),
    () => patch(`metamodel/relation-types/${pick.of(relationTypes)}`, { is_hidden: pick.number(3) === 0 }),
    () => patch('metamodel/types/Application', { label: name() }),
  ];
  const changes: Change[] = [
    (l) => made(l.cards, 'post', 'cards', { type: pick.of(types), name: name() }),
    (l) => made(l.cards, 'post', 'cards', { type: 'Application', name: name(), parent_id: pick.of(l.cards) }),
    (l) => patch(`cards/${pick.of(l.cards)}`, { name: name(), external_id: name() }),
    (l) =>
      patch(`cards/${pick.of(l.cards)}`, {
        description: name(),
        lifecycle: { active: pick.of(['2020-01-01', '2021-02-03', null]) },
        attributes: { costTotalAnnual: pick.number(1_000) },
      }),
    (l) => patch(`cards/${pick.of(l.cards)}`, { parent_id: pick.of([null, pick.of(l.cards)]) }),
    (l) => post(`cards/${pick.of(l.cards)}/archive`, { child_strategy: pick.of(['cascade', 'disconnect']) }),
    (l) => post(`cards/${pick.of(l.cards)}/restore`, {}),
    (l) => remove(`cards/${pick.of(l.cards)}?child_strategy=${pick.of(['cascade', 'reparent'])}`),
    (l) => post(`cards/${pick.of(l.cards)}/approval-status?action=${pick.of(['approve', 'reset'])}`, {}),
    (l) =>
      patch('cards/bulk', {
        ids: [pick.of(l.cards), pick.of(l.cards), pick.of(l.cards)],
        updates: { description: name() },
      }),
    (l) => post(`cards/${pick.of(l.cards)}/tags`, [pick.of(l.tags)]),
    (l) => remove(`cards/${pick.of(l.cards)}/tags/${pick.of(l.tags)}`),
    (l) => patch(`tag-groups/${pick.of(l.groups)}`, { name: name() }),
    (l) => patch(`tag-groups/${l.groups[0]}/tags/${pick.of(l.tags)}`, { name: name() }),
    (l) =>
      made(l.stakeholders, 'post', `cards/${pick.of(l.cards)}/stakeholders`, {
        user_id: pick.of(l.users),
        role: pick.of(['responsible', 'observer']),
      }),
    (l) => remove(`stakeholders/${pick.of(l.stakeholders)}`),
    (l) => patch(`users/${l.users[0]}`, { email: `${name().replace(' ', '')}@estate.example` }),
    related,
    related,
    (l) => patch(`relations/${pick.of(l.relations)}`, { description: name() }),
    (l) => remove(`relations/${pick.of(l.relations)}`),
    async (l) => {
      const answer = await post('cards/merge', {
        survivor_id: pick.of(l.cards),
        merged_ids: [pick.of(l.cards)],
      });
      if (answer.body?.merge_id) l.merges.push(answer.body.merge_id);
    },
    (l) => (l.merges.length > 0 ? post(`card-merges/${pick.of(l.merges)}/undo`, {}) : Promise.resolve()),
    (l) => post(`cards/${pick.of(l.cards)}/comments`, { content: name() }),
    (l) =>
      patch(`cards/${pick.of(l.cards)}`, { attributes: { timeModel: pick.of(['invest', 'migrate', null]) } }),
    ...(but.metamodel === false ? [] : metamodelChanges),
  ];
  return {
    pick,
    /** Makes one change, or tries to. */
    change: (l: Landscape) => pick.of(changes)(l, pick),
  };
}
