import Type, { type TSchema } from 'typebox';
import {
  compareRevisions,
  recallSignatures,
  rejectRecord,
  replaceSignatory,
  requestSignatures,
  signRecord,
} from '../../../domain/governance/signatures/signatures.commands.ts';
import { listRevisions } from '../../../domain/governance/signatures/signatures.records.ts';
import type { SignedKind } from '../../../domain/governance/signatures/signatures.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { JsonText, SortField } from '../../../domain/kernel/lists/lists.types.ts';
import { Clearable, component, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';

const SignatureRequestBody = object({
  user_ids: Type.Array(Uuid, { minItems: 1, maxItems: 100, description: 'Duplicates count once' }),
  message: Clearable(Type.String({ maxLength: 2000, description: 'Shown to the signatories' })),
});
const ReplacementBody = object({
  user_id: Type.String({ ...Uuid, description: 'The signatory who has not signed' }),
  new_user_id: Type.String({ ...Uuid, description: 'The new signatory' }),
  message: Clearable(Type.String({ maxLength: 2000, description: 'Shown to the new signatory' })),
});
const RejectBody = object({
  comment: Type.String({ minLength: 1, maxLength: 2000, description: 'Why' }),
});

const RevisionSchema = component('RevisionRef', {
  id: Uuid,
  revision_number: Type.Integer({ minimum: 1 }),
  status: Type.String(),
});
const ComparisonSchema = component('RevisionComparison', {
  from: RevisionSchema,
  to: RevisionSchema,
  changes: Type.Array(object({ field: Type.String(), old: Type.Unknown(), new: Type.Unknown() }), {
    description: 'Field by field; members of objects by their path, such as `sections.1.1.content`',
  }),
});
const ComparisonQuery = object({
  with: Type.Optional(Type.String({ ...Uuid, description: 'Another revision; default: the one before' })),
});

/** What differs between the kinds of documents that people sign. */
export interface SigningApi {
  kind: SignedKind;
  tag: string;
  /** The path, such as `/api/v1/adr`. */
  url: string;
  /** The path parameter of the id. */
  parameter: string;
  /** The name in operation ids, and in sentences. */
  name: string;
  one: string;
  short: string;
  schema: TSchema;
  /** A page of them, and its sort fields. */
  listed: TSchema;
  sorts: Record<string, SortField>;
  revise(ctx: Ctx, id: string): Promise<JsonText>;
}

/** Operations for signatures and revisions of documents. */
export function registerSigning(app: App, api: SigningApi): void {
  const { kind, tag, name, one, parameter, schema } = api;
  const at = (action: string) => `${api.url}/:${parameter}/${action}`;
  const responses = ok(`The ${one}`, schema, 'ETag');
  const shared = { ifMatch: true, responses };
  const routes = routesOf(app, { tag });

  routes.post(at('request-signatures'), {
    ...shared,
    id: `request${name}Signatures`,
    summary: `Request signatures for a ${one}`,
    description: `From \`draft\` to \`in_review\`: each signatory gets a to-do and a notification. Signatories must be active and have \`${kind.rights.view}\` and \`${kind.rights.sign}\`. A document in review cannot be edited.`,
    permission: kind.rights.manage,
    body: SignatureRequestBody,
    errors: ['wrong_state'],
    handler: ({ ctx, params: given, body }) => requestSignatures(ctx, kind, given[parameter]!, body),
  });

  routes.post(at('sign'), {
    ...shared,
    id: `sign${name}`,
    summary: `Sign a ${one}`,
    description:
      'As one of its signatories, with the hash of its content. With the last signature it becomes `signed` and cannot be changed.',
    permission: kind.rights.sign,
    permissionNote: `${kind.rights.view}; to be asked for the signature`,
    errors: ['wrong_state', 'not_signatory'],
    handler: ({ ctx, params: given }) => signRecord(ctx, kind, given[parameter]!),
  });

  routes.post(at('recall-signatures'), {
    ...shared,
    id: `recall${name}Signatures`,
    summary: `Recall the signature request of a ${one}`,
    description: 'It becomes a `draft` again; to-dos are withdrawn and existing signatures are void.',
    permission: kind.rights.manage,
    errors: ['wrong_state'],
    handler: ({ ctx, params: given }) => recallSignatures(ctx, kind, given[parameter]!),
  });

  routes.post(at('replace-signatory'), {
    ...shared,
    id: `replace${name}Signatory`,
    summary: `Replace a signatory of a ${one}`,
    description:
      'Only signatories who have not signed can be replaced, such as those whose account is not active (`is_active`). Existing signatures remain valid.',
    permission: kind.rights.manage,
    body: ReplacementBody,
    errors: ['wrong_state'],
    handler: ({ ctx, params: given, body }) => replaceSignatory(ctx, kind, given[parameter]!, body),
  });

  routes.post(at('reject'), {
    ...shared,
    id: `reject${name}`,
    summary: `Reject a ${one}`,
    description:
      'As one of the pending signatories. It becomes a `draft` again, with the reason under `rejection`.',
    permission: kind.rights.sign,
    permissionNote: `${kind.rights.view}; to be asked for the signature`,
    body: RejectBody,
    bodyExample: { comment: 'The costs of the second option are missing.' },
    errors: ['wrong_state', 'not_signatory'],
    handler: ({ ctx, params: given, body }) => rejectRecord(ctx, kind, given[parameter]!, body),
  });

  routes.post(at('revise'), {
    ...shared,
    id: `revise${name}`,
    summary: `Create the next revision of a signed ${one}`,
    description: `A \`draft\` with the same content, the next \`revision_number\` and the signed one as \`parent_id\`. Refused if a later revision exists.`,
    permission: kind.rights.manage,
    responses: ok('The new revision', schema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params: given }) => api.revise(ctx, given[parameter]!),
  });

  routes.get(at('comparison'), {
    id: `compare${name}Revisions`,
    summary: `Compare two revisions of a ${one}`,
    description: 'Field by field, from the older to the newer, in either order of the parameters.',
    permission: kind.rights.view,
    query: ComparisonQuery,
    responses: ok('What differs', ComparisonSchema),
    handler: ({ ctx, params: given, query }) => compareRevisions(ctx, kind, given[parameter]!, query.with),
  });

  routes.get(at('revisions'), {
    id: `list${name}Revisions`,
    summary: `List the revisions of a ${api.short}`,
    permission: kind.rights.view,
    query: listQuery(api.sorts, 'revision_number', {}),
    responses: ok('All of them, the first one first', api.listed),
    handler: ({ ctx, params: given, query }) => listRevisions(ctx, kind, given[parameter]!, query),
  });
}
