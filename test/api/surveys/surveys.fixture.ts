import { ok, type TestApp, type TestClient, type TestResponse } from '../../support/harness.ts';

const url = '/api/v1/surveys';
export const surveys = url;

/** What the tests of surveys do over and over, as the administrator. */
export async function openDesk(t: TestApp) {
  const admin = await t.as('admin');
  const made = async (path: string, body: unknown): Promise<string> => (await admin.create(path, body)).id;
  const desk = {
    t,
    admin,
    /** An application on which each of the clients is responsible. */
    async card(values: Record<string, unknown> = {}, ...holders: TestClient[]): Promise<string> {
      const { id } = await admin.card(values);
      for (const { userId } of holders)
        await made(`/api/v1/cards/${id}/stakeholders`, { user_id: userId, role: 'responsible' });
      return id;
    },
    /** A draft that asks about the cards for criticality (to confirm), time model and cost. */
    draft: (cards: string[], more: Record<string, unknown> = {}) =>
      made(url, {
        name: 'Owners?',
        target_type_key: 'Application',
        target_filters: { card_ids: cards },
        target_roles: ['responsible'],
        fields: [
          { key: 'businessCriticality', action: 'confirm' },
          { key: 'timeModel' },
          { key: 'costTotalAnnual' },
        ],
        ...more,
      }),
    /** A survey that was sent. */
    async sent(cards: string[], more: Record<string, unknown> = {}): Promise<string> {
      const id = await desk.draft(cards, more);
      await ok(admin.post(`${url}/${id}/send`));
      return id;
    },
    answer: (client: TestClient, survey: string, card: string, responses: unknown) =>
      client.post(`${url}/${survey}/respond/${card}`, { responses }),
    apply: (survey: string, ids: string[], more: Record<string, unknown> = {}) =>
      admin.post(`${url}/${survey}/apply`, { response_ids: ids, ...more }),
    responses: async (survey: string): Promise<TestResponse['body'][]> =>
      (await admin.get(`${url}/${survey}/responses`)).body.items,
    events: async (since: string, types: string, client = admin): Promise<TestResponse['body'][]> =>
      (await client.get(`/api/v1/changes?after=${since}&event_type=${types}`)).body.items,
  };
  return desk;
}
