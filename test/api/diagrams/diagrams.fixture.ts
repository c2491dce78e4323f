import { randomUUID } from 'node:crypto';
import type { TestClient } from '../../support/harness.ts';

export const url = '/api/v1/diagrams';

/** A drawing of one card. */
export const drawn = (id: string, label: string): string =>
  `<mxGraphModel><root><mxCell id="0"/><object id="2" label="${label}" cardId="${id}"><mxCell vertex="1" parent="0"/></object></root></mxGraphModel>`;

export const kinds = (events: { event_type: string }[]): string[] =>
  events.map(({ event_type }) => event_type);

/** Makes diagrams and cards, by default as the administrator. */
export const diagramWorld = (admin: TestClient) => ({
  card: async (name: string = randomUUID(), more: object = {}): Promise<string> =>
    (await admin.card({ name, ...more })).id,
  diagram: (more: object = {}, client = admin) => client.create(url, { name: 'Landscape', ...more }),
});
