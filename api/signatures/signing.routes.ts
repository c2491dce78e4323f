import Type, { type TSchema } from 'typebox';
import {
  recallSignatures,
  rejectRecord,
  requestSignatures,
  signRecord,
} from '../../domain/governance/signatures/signatures.commands.ts';
import { replaceSignatory } from '../../domain/governance/signatures/signatures.replace.ts';
import { compareRevisions } from '../../domain/governance/signatures/signatures.revise.ts';
import type { SignedKind, SignedRow } from '../../domain/governance/signatures/signatures.types.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { JsonText } from '../../domain/kernel/lists/lists.types.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/signatures.ts';
import type { App } from '../types.ts';

/** What differs between the kinds of documents that people sign. */
export interface SigningApi<Row extends SignedRow> {
  kind: SignedKind<Row>;
  tag: string;
  /** `/api/v1/adr` and the like. */
  url: string;
  /** The name of the id in addresses. */
  parameter: string;
  /** The name in operation ids, and in sentences. */
  name: string;
  one: string;
  schema: TSchema;
  revise(ctx: Ctx, id: string): Promise<JsonText>;
}

/** The way of a document to its signatures, its revisions, and how they differ. */
export function registerSigning<Row extends SignedRow>(app: App, api: SigningApi<Row>): void {
  const { kind, tag, name, one, parameter, schema } = api;
  const params = Type.Object({ [parameter]: Uuid }, closed);
  const idOf = (given: object) => (given as Record<string, string>)[parameter]!;
  const at = (action: string) => `${api.url}/:${parameter}/${action}`;
  const answers = { 200: { description: `The ${one}`, schema, headers: ['ETag' as const] } };
  const headers: ['If-Match'] = ['If-Match'];
  const shared = { method: 'POST' as const, tag, params, headers, answers };

  operation(app, {
    ...shared,
    url: at('request-signatures'),
    id: `request${name}Signatures`,
    summary: `Ask people to sign a ${one}`,
    description: `From \`draft\` to \`in_review\`: each of them gets a to-do and a notification. They must be active, and hold \`${kind.rights.view}\` and \`${kind.rights.sign}\`. What is in review is not edited.`,
    permission: kind.rights.manage,
    body: schemas.SignatureRequestBody,
    errors: ['wrong_state'],
    handler: async ({ ctx, params: given, body, reply }) =>
      sendResource(reply, await requestSignatures(ctx, kind, idOf(given), body)),
  });

  operation(app, {
    ...shared,
    url: at('sign'),
    id: `sign${name}`,
    summary: `Sign a ${one}`,
    description:
      'As one of those who were asked, under the hash of its content. With the last signature it is `signed` and stays as it is.',
    permission: kind.rights.sign,
    permissionNote: `${kind.rights.view}; to be asked for the signature`,
    errors: ['wrong_state', 'not_signatory'],
    handler: async ({ ctx, params: given, reply }) =>
      sendResource(reply, await signRecord(ctx, kind, idOf(given))),
  });

  operation(app, {
    ...shared,
    url: at('recall-signatures'),
    id: `recall${name}Signatures`,
    summary: `Take back the request to sign a ${one}`,
    description: 'A `draft` again; to-dos go, and signatures that were given no longer count.',
    permission: kind.rights.manage,
    errors: ['wrong_state'],
    handler: async ({ ctx, params: given, reply }) =>
      sendResource(reply, await recallSignatures(ctx, kind, idOf(given))),
  });

  operation(app, {
    ...shared,
    url: at('replace-signatory'),
    id: `replace${name}Signatory`,
    summary: `Ask somebody else to sign a ${one}`,
    description:
      'In the place of one who has not signed, such as somebody whose account is closed (`is_active`). Signatures that were given stay.',
    permission: kind.rights.manage,
    body: schemas.ReplacementBody,
    errors: ['wrong_state'],
    handler: async ({ ctx, params: given, body, reply }) =>
      sendResource(reply, await replaceSignatory(ctx, kind, idOf(given), body)),
  });

  operation(app, {
    ...shared,
    url: at('reject'),
    id: `reject${name}`,
    summary: `Reject a ${one}`,
    description: 'As one of those who are still to sign. A `draft` again, with the reason under `rejection`.',
    permission: kind.rights.sign,
    permissionNote: `${kind.rights.view}; to be asked for the signature`,
    body: schemas.RejectBody,
    bodyExample: { comment: 'The costs of the second option are missing.' },
    errors: ['wrong_state', 'not_signatory'],
    handler: async ({ ctx, params: given, body, reply }) =>
      sendResource(reply, await rejectRecord(ctx, kind, idOf(given), body)),
  });

  operation(app, {
    ...shared,
    url: at('revise'),
    id: `revise${name}`,
    summary: `Begin the next revision of a signed ${one}`,
    description: `A \`draft\` with the same content, the next \`revision_number\` and the signed one as \`parent_id\`. Refused where there is a later revision already.`,
    permission: kind.rights.manage,
    answers: { 200: { description: 'The new revision', schema, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params: given, reply }) => sendResource(reply, await api.revise(ctx, idOf(given))),
  });

  operation(app, {
    method: 'GET',
    url: at('comparison'),
    id: `compare${name}Revisions`,
    tag,
    summary: `Compare two revisions of a ${one}`,
    description: 'Field by field, from the older to the newer, whichever is named first.',
    permission: kind.rights.view,
    params,
    query: schemas.ComparisonQuery,
    answers: { 200: { description: 'What differs', schema: Type.Ref('RevisionComparison#') } },
    handler: async ({ ctx, params: given, query }) =>
      await compareRevisions(ctx, kind, idOf(given), query.with),
  });
}
