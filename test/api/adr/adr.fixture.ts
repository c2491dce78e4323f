import { randomUUID } from 'node:crypto';
import { ok, type TestClient } from '../../support/harness.ts';

export const url = '/api/v1/adr';

export const ids = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id);

/** Writes decisions and cards, signs, and says what was told. */
export function deciding(admin: TestClient) {
  const adr = (more: object = {}, client = admin) => client.create(url, { title: randomUUID(), ...more });
  return {
    adr,
    card: admin.card,
    /** A decision that was signed. */
    async signed(more: object = {}): Promise<string> {
      const { id } = await adr(more);
      await ok(admin.post(`${url}/${id}/request-signatures`, { user_ids: [admin.userId] }));
      await ok(admin.post(`${url}/${id}/sign`));
      return id;
    },
    /** What was told of decisions, their links and to-dos. */
    told: async (since: string, client = admin) =>
      (await client.changes(since)).filter(({ event_type }) => /^(adr|adr_card|todo)\./.test(event_type)),
  };
}
