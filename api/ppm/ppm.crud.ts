import Type, { type TObject, type TSchema } from 'typebox';
import type { ListParams } from '../../domain/kernel/lists/lists.types.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { createPpm, deletePpm, listPpm, patchPpm } from '../../domain/modelling/ppm/ppm.commands.ts';
import type { PpmKind } from '../../domain/modelling/ppm/ppm.kinds.ts';
import type { PpmRow } from '../../domain/modelling/ppm/ppm.types.ts';
import type { ErrorCode } from '../../platform/errors.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const shared = { tag: 'Project portfolio', module: 'ppm' } as const;
/** What every reading operation declares. */
export const reading = {
  ...shared,
  permission: 'ppm.view',
  permissionNote: 'sight of the initiative',
} as const;
/** What every writing operation declares. */
export const writing = {
  ...shared,
  permission: 'ppm.manage',
  permissionNote: 'sight of the initiative',
} as const;

export const InitiativeParams = Type.Object({ initiative_id: Uuid }, closed);

/** How the operations on one kind of rows are declared. */
export interface PpmOperations {
  kind: PpmKind;
  /** In the path, such as `reports`. */
  path: string;
  /** In names of operations, such as `StatusReport`, and what several are called there. */
  name: string;
  plural: string;
  /** In sentences, with its article, and several of them. */
  a: string;
  many: string;
  /** The path's parameter with its id. */
  param: string;
  /** Where one is reached, when not at `path`. */
  onePath?: string;
  schema: { whole: TSchema; item: TSchema };
  sorts: string[];
  filters?: Record<string, TSchema>;
  create: { body: TObject; example: object; description?: string; errors?: ErrorCode[] };
  /** Absent where they are not changed. */
  patch?: { body: TObject; example: object; description?: string };
  remove?: { description?: string };
  /** Said in the description of each write. */
  note?: string;
}

const refOf = (schema: TSchema) => Type.Ref(`${(schema as { $id?: string }).$id}#`);
const said = (...sentences: (string | undefined)[]) => {
  const description = sentences.filter(Boolean).join(' ');
  return description === '' ? {} : { description };
};

/** Lists, creates, changes and deletes what initiatives have of one kind. */
export function registerPpmKind(app: App, declared: PpmOperations): void {
  const { kind, path, name, plural, a, many, param, schema, note } = declared;
  const change = kind.costs
    ? {
        ...writing,
        permissionNote: 'sight of the initiative; costs.view, or a stakeholder role on the initiative',
      }
    : writing;
  app.addSchema(schema.whole);
  app.addSchema(schema.item);
  const whole = refOf(schema.whole);
  const collection = `/api/v1/ppm/initiatives/:initiative_id/${path}`;
  const one = `/api/v1/ppm/${declared.onePath ?? path}/:${param}`;
  const OneParams = Type.Object({ [param]: Uuid }, closed);
  const idOf = (params: unknown): string => (params as Record<string, string>)[param]!;
  const defaultSort = kind.defaultSort ?? 'created_at';

  operation(app, {
    ...reading,
    method: 'GET',
    url: collection,
    id: `list${plural}`,
    summary: `List the ${many} of an initiative`,
    params: InitiativeParams,
    query: listQuery(declared.sorts, defaultSort, declared.filters ?? {}),
    answers: { 200: { description: `A page of ${many}`, schema: listAnswer(refOf(schema.item)) } },
    handler: async ({ ctx, params, query, reply }) => {
      const { filters = {} } = declared;
      const asked = Object.entries(query).filter(([key]) => key in filters);
      const list = query as unknown as ListParams;
      const text = await listPpm(ctx, kind, params.initiative_id, list, Object.fromEntries(asked));
      return sendJson(reply, text);
    },
  });

  operation(app, {
    ...change,
    method: 'POST',
    url: collection,
    id: `create${name}`,
    summary: `Add ${a} to an initiative`,
    ...said(declared.create.description, note),
    params: InitiativeParams,
    body: declared.create.body,
    bodyExample: declared.create.example,
    answers: { 201: { description: `The new row`, schema: whole, headers: ['ETag'] } },
    errors: ['limit_reached', ...(declared.create.errors ?? [])],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(
        reply.code(201),
        await createPpm(ctx, kind, params.initiative_id, body as Partial<PpmRow>),
      ),
  });

  if (declared.patch) {
    operation(app, {
      ...change,
      method: 'PATCH',
      url: one,
      id: `patch${name}`,
      summary: `Change ${a}`,
      ...said(declared.patch.description, note),
      params: OneParams,
      body: declared.patch.body,
      bodyExample: declared.patch.example,
      headers: ['If-Match'],
      answers: { 200: { description: `The changed row`, schema: whole } },
      handler: async ({ ctx, params, body, reply }) =>
        sendResource(reply, await patchPpm(ctx, kind, idOf(params), body as Partial<PpmRow>)),
    });
  }

  operation(app, {
    ...change,
    method: 'DELETE',
    url: one,
    id: `delete${name}`,
    summary: `Delete ${a}`,
    ...said(declared.remove?.description, note),
    params: OneParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deletePpm(ctx, kind, idOf(params));
      return reply.code(204).send();
    },
  });
}
