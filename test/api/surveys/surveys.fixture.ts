import { ok, type TestAnswer, type TestApp, type TestClient } from '../../support/harness.ts';

const url = '/api/v1/surveys';
export const surveys = url;

/** What the tests of surveys do over and over, as the administrator. */
export interface Desk {
  t: TestApp;
  admin: TestClient;
  /** An application on which each of the clients is responsible. */
  card(values?: Record<string, unknown>, ...holders: TestClient[]): Promise<string>;
  /** A draft that asks about the cards for criticality (to confirm), time model and cost. */
  draft(cards: string[], more?: Record<string, unknown>): Promise<string>;
  /** A survey that was sent. */
  sent(cards: string[], more?: Record<string, unknown>): Promise<string>;
  answer(client: TestClient, survey: string, card: string, responses: unknown): Promise<TestAnswer>;
  apply(survey: string, ids: string[], more?: Record<string, unknown>): Promise<TestAnswer>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  responses(survey: string): Promise<any[]>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  events(since: string, types: string, client?: TestClient): Promise<any[]>;
}

export async function openDesk(t: TestApp): Promise<Desk> {
  const admin = await t.as('admin');
  const made = async (path: string, body: unknown): Promise<string> => (await admin.create(path, body)).id;
  const desk: Desk = {
    t,
    admin,
    async card(values = {}, ...holders) {
      const { id } = await admin.card(values);
      for (const { userId } of holders) {
        await made(`/api/v1/cards/${id}/stakeholders`, { user_id: userId, role: 'responsible' });
      }
      return id;
    },
    draft: (cards, more = {}) =>
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
    async sent(cards, more = {}) {
      const id = await desk.draft(cards, more);
      await ok(admin.post(`${url}/${id}/send`));
      return id;
    },
    answer: (client, survey, card, responses) =>
      client.post(`${url}/${survey}/respond/${card}`, { responses }),
    apply: (survey, ids, more = {}) => admin.post(`${url}/${survey}/apply`, { response_ids: ids, ...more }),
    responses: async (survey) => (await admin.get(`${url}/${survey}/responses`)).body.items,
    events: async (since, types, client = admin) =>
      (await client.get(`/api/v1/changes?after=${since}&event_type=${types}`)).body.items,
  };
  return desk;
}
