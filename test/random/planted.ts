import type { Role, World } from '../access/world.ts';
import type { TestResponse } from '../support/harness.ts';

/** The cost of every card that the run makes; no other number of the run contains these digits. */
const COST = 918_273_645;
const SECRET = 'planted-secret-81f3';

/** What no response may show: the shapes of stored hashes and of texts encrypted at rest, and our secrets. */
const never = [SECRET, /scrypt\$\d+\$/, /"(password_hash|token_hash|secret_hash)":/];

/** The attribute that costs of cards of a type are planted in. */
const costOf: Record<string, string> = { Application: 'costTotalAnnual', Initiative: 'costBudget' };

/** Gives every application and initiative of the world and every relation a cost, and the settings secrets. */
export async function plant(world: World): Promise<void> {
  const { card } = world;
  world.card = (values = {}) => {
    const key = costOf[String(values.type ?? 'Application')];
    return card(key ? { ...values, attributes: { [key]: COST, ...(values.attributes as object) } } : values);
  };
  const admin = await world.t.as('admin', 'maker');
  const { relation } = world;
  world.relation = async (source) => {
    const id = await relation(source);
    const answer = await admin.patch(`/api/v1/relations/${id}`, { attributes: { costTotalAnnual: COST } });
    if (answer.status !== 200) throw new Error(`the relation's cost was not planted: ${answer.text}`);
    return id;
  };
  const secrets = {
    email: { smtp_password: SECRET },
    sso: { client_secret: SECRET },
    ai: { api_key: SECRET },
  };
  for (const [group, body] of Object.entries(secrets)) {
    const answer = await admin.patch(`/api/v1/settings/${group}`, body);
    if (answer.status !== 200) throw new Error(`the secret of ${group} was not planted: ${answer.text}`);
  }
}

/** Whether somebody of the role may now see the costs that an answer shows. */
async function seesCosts({ t }: World, userId: string, text: string): Promise<boolean> {
  if (userId === '') return false;
  const { db } = t.services;
  const role = await db('roles')
    .join('users', 'users.role', 'roles.key')
    .where('users.id', userId)
    .first('roles.permissions');
  if (role?.permissions['*'] || role?.permissions['costs.view']) return true;
  const cards: string[] = await db('stakeholders').where({ user_id: userId }).pluck('card_id');
  return cards.some((id) => text.includes(id));
}

/** What the response should not show, if anything. */
export async function findLeak(world: World, role: Role, userId: string, answer: TestResponse) {
  for (const secret of never) {
    const found = typeof secret === 'string' ? answer.text.includes(secret) : secret.test(answer.text);
    if (found) return `shows ${role} the secret ${secret}`;
  }
  if (answer.text.includes(String(COST)) && !(await seesCosts(world, userId, answer.text)))
    return `shows ${role} a cost`;
  return undefined;
}

/** How secrets look that the service hands out, and ours: none of them may be read in the database. */
const legible = `${SECRET}|(est_|whsec_)[A-Za-z0-9_-]{20}|eyJ[A-Za-z0-9_-]{10,}\\.eyJ`;

/** The tables that hold a secret as everybody could read it. */
export async function findStoredSecrets({ t }: World): Promise<string[]> {
  const { db } = t.services;
  const names: string[] = await db('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
  const { rows } = await db.raw(
    names.map((name) => `select '${name}' as name from "${name}" t where t::text ~ ?`).join(' union '),
    names.map(() => legible),
  );
  return rows.map(({ name }: { name: string }) => name);
}
