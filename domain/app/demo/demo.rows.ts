import type { DemoCardSource, DemoExtras } from './demo.types.ts';

/** Makes the row function of one card type, which keeps the tables to what differs from row to row. */
export const rowsOf =
  (type: string) =>
  (
    externalId: string,
    name: string,
    description: string,
    attributes: Record<string, unknown> = {},
    { parent, ...extras }: DemoExtras = {},
  ): DemoCardSource => ({
    type,
    external_id: externalId,
    name,
    description,
    attributes,
    ...(parent === undefined ? {} : { parent_external_id: parent }),
    ...extras,
  });
