import type { TestApp, TestClient, TestResponse } from './harness.ts';

const roles = ['admin', 'bpm_admin', 'member', 'viewer', 'participant'] as const;
export type Role = (typeof roles)[number];

/** Everything that has states, with a table of what becomes of it that asks no rule of the service. */
export interface Machine {
  table: string;
  /** The column of its state. */
  column: string;
  states: readonly string[];
  /** What an action asks of the service. */
  actions: Record<string, (client: TestClient, id: string) => Promise<TestResponse>>;
  /** The permission of an action. */
  permission(action: string): string;
  /** What somebody who may write nothing is told to lack, where it is another one. */
  first?(action: string, role: Role): string | undefined;
  /** By `state action`: the state afterwards, or null for what is gone. Any other pair is refused. */
  moves: Record<string, string | null>;
  /** The state as it is shown, where that is not its column alone. */
  read?(id: string): Promise<string | null>;
  /** One in the state, made for a role: a new one, or `again` the one that is there. */
  make(state: string, again: string | undefined, role: Role): Promise<string>;
  /** The code of what is never taken, whatever the state. */
  never?: Record<string, string>;
  /** By `state action`: what a refused pair answers, where that is not 409 `wrong_state`. */
  refused?: Record<string, readonly [status: number, code: string]>;
  /** The member of a refused pair's answer that names the state. */
  named?: string;
}

/** Moves from a state to others, as `from: [to, to]`. */
export const between = (table: Record<string, readonly string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(table).flatMap(([from, to]) => to.map((one) => [`${from} ${one}`, one])));

/**
 * Tries each action in each state by each role, a participant being one who holds no permission at all.
 * @param holders which of the roles hold the permissions that the machines name.
 */
export async function createStates(t: TestApp, holders: Record<string, readonly Role[]>) {
  const clients = {} as Record<Role, TestClient>;
  await t.services.db('roles').insert({ key: 'participant', label: 'Participant', permissions: '{}' });
  await t.services.db.raw("select raise_topics(array['roles'])");
  for (const role of roles) clients[role] = await t.as(role);

  async function stateOf({ table, column, read }: Machine, id: string): Promise<string | null> {
    if (read) return await read(id);
    const row = await t.services.db(table).where({ id }).first(column);
    return row ? row[column] : null;
  }

  return {
    clients,
    // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
    async made(url: string, body: object): Promise<any> {
      const answer = await clients.admin.post(url, body);
      expect(answer.status, answer.text).toBe(201);
      return answer.body;
    },
    async tryAll(machine: Machine): Promise<void> {
      let last: string | undefined;
      for (const state of machine.states) {
        for (const role of roles) {
          let id = await machine.make(state, last, role);
          for (const [action, act] of Object.entries(machine.actions)) {
            const triple = `${state} ${action} ${role}`;
            const permission = machine.permission(action);
            const answer = await act(clients[role], id);
            const told = `${triple}: ${answer.status} ${answer.text}`;
            const next = machine.moves[`${state} ${action}`];
            if (!holders[permission]!.includes(role)) {
              const none = role === 'participant' || role === 'viewer';
              const lacks = none ? (machine.first?.(action, role) ?? permission) : permission;
              expect([answer.status, answer.body.permission], told).toEqual([403, lacks]);
            } else if (machine.never?.[action]) {
              expect([answer.status, answer.body.code], told).toEqual([422, machine.never[action]]);
            } else if (next === undefined) {
              const refusal = machine.refused?.[`${state} ${action}`] ?? [409, 'wrong_state'];
              expect([answer.status, answer.body.code], told).toEqual(refusal);
              if (machine.named) expect(answer.body[machine.named], told).toBe(state);
            } else {
              expect(answer.status, told).toBeLessThan(300);
              expect(await stateOf(machine, id), told).toBe(next);
              id = await machine.make(state, next === null ? undefined : id, role);
              continue;
            }
            expect(await stateOf(machine, id), told).toBe(state);
          }
          last = id;
        }
      }
    },
  };
}
