import type { TSchema } from 'typebox';
import type { ListParams } from '../../../domain/kernel/lists/lists.types.ts';
import {
  createPpm,
  deletePpm,
  listPpm,
  type PpmKind,
  type PpmRow,
  patchPpm,
  ppmSorts,
} from '../../../domain/modelling/ppm/ppm.kinds.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

/** The routes that read plans and figures of initiatives. */
export const readingRoutes = (app: App) =>
  routesOf(app, {
    tag: 'Project portfolio',
    module: 'ppm',
    permission: 'ppm.view',
    permissionNote: 'read access to the initiative',
  });
/** The routes that change them; `note` lists additional requirements. */
export const writingRoutes = (app: App, note?: string) =>
  routesOf(app, {
    tag: 'Project portfolio',
    module: 'ppm',
    permission: 'ppm.manage',
    permissionNote: ['read access to the initiative', note].filter(Boolean).join('; '),
  });

/** The declaration of the operations on one kind of rows. */
interface PpmOperations {
  kind: PpmKind;
  /** In the path, such as `reports`. */
  path: string;
  /** In ids of operations, such as `StatusReport`; the plural ends in `s`. */
  name: string;
  /** With its article, in summaries; the plural ends in `s`. */
  phrase: `a ${string}`;
  /** The path parameter with the id of a row. */
  param: string;
  schema: { whole: TSchema; item: TSchema; create: TSchema; patch: TSchema };
  list?: { description: string };
  create: { example: object; description?: string };
  patch: { example: object };
  remove?: { description: string };
  /** A part of the description of each write. */
  note?: string;
}

const described = (...sentences: (string | undefined)[]) => {
  const description = sentences.filter(Boolean).join(' ');
  return description === '' ? {} : { description };
};

/** Lists, creates, changes and deletes one kind of the rows of initiatives. */
export function registerPpmKind(app: App, declared: PpmOperations): void {
  const { kind, path, name, phrase, param, schema, note } = declared;
  const { filters = {}, defaultSort = 'created_at' } = kind;
  const many = `${phrase.slice(2)}s`;
  const reading = readingRoutes(app);
  const changing = writingRoutes(app, kind.costs && 'costs.view, or a stakeholder role on the initiative');
  const collection = `/api/v1/ppm/initiatives/:initiative_id/${path}`;
  const one = `/api/v1/ppm/${path}/:${param}`;

  reading.get(collection, {
    id: `list${name}s`,
    summary: `List the ${many} of an initiative`,
    ...described(declared.list?.description),
    query: listQuery(ppmSorts(kind), defaultSort, filters),
    answers: page(`A page of ${many}`, schema.item),
    handler: async ({ ctx, params, query }) => {
      const asked = Object.entries(query).filter(([key]) => key in filters);
      const list = query as unknown as ListParams;
      return await listPpm(ctx, kind, params.initiative_id!, list, Object.fromEntries(asked));
    },
  });

  changing.post(collection, {
    id: `create${name}`,
    summary: `Add ${phrase} to an initiative`,
    ...described(declared.create.description, note),
    body: schema.create,
    bodyExample: declared.create.example,
    answers: created('The new row', schema.whole),
    errors: ['limit_reached'],
    handler: ({ ctx, params, body }) => createPpm(ctx, kind, params.initiative_id!, body as Partial<PpmRow>),
  });

  changing.patch(one, {
    id: `patch${name}`,
    summary: `Change ${phrase}`,
    ...described(note),
    body: schema.patch,
    bodyExample: declared.patch.example,
    headers: ['If-Match'],
    answers: ok('The changed row', schema.whole),
    handler: ({ ctx, params, body }) => patchPpm(ctx, kind, params[param]!, body as Partial<PpmRow>),
  });

  changing.delete(one, {
    id: `delete${name}`,
    summary: `Delete ${phrase}`,
    ...described(declared.remove?.description, note),
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deletePpm(ctx, kind, params[param]!),
  });
}
