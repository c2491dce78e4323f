import Type, { type TSchema } from 'typebox';
import {
  compareRevisions,
  patchRecord,
  ReplacementBody,
  recallSignatures,
  rejectRecord,
  replaceSignatory,
  requestSignatures,
  reviseRecord,
  SignatureRequestBody,
  signRecord,
} from '../../../domain/governance/signatures/signatures.commands.ts';
import { listRevisions, readRecord } from '../../../domain/governance/signatures/signatures.records.ts';
import type { SignedKind } from '../../../domain/governance/signatures/signatures.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { SortField } from '../../../domain/kernel/lists/lists.types.ts';
import { Choice, component, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { type DocumentFile, documentMedia, sendFile } from '../../kernel/files/files.documents.ts';
import { ok, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';

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
interface SigningApi {
  kind: SignedKind;
  tag: string;
  /** The path, such as `/api/v1/adr`. */
  url: string;
  /** The path parameter of the id. */
  parameter: string;
  /** The name in operation ids, and in sentences, with its article. */
  name: string;
  one: string;
  short: string;
  schema: TSchema;
  patch: { body: TSchema; description: string };
  export: {
    formats: DocumentFile['format'][];
    description: string;
    /** Reads a document for a file. @throws EstateError `forbidden`, `not_found`. */
    read(ctx: Ctx, id: string): Promise<Omit<DocumentFile, 'format'>>;
  };
  /** A page of them, and its sort fields. */
  listed: TSchema;
  sorts: Record<string, SortField>;
}

const media = { ...documentMedia, md: 'text/markdown' };
/** The bytes of a file. */
const FileContent = Type.String({ contentMediaType: 'application/octet-stream' });

/** The response with a file in one of the formats. */
export const fileOf = (...formats: DocumentFile['format'][]) => ({
  200: {
    description: 'The file',
    schema: FileContent,
    mediaType: formats.map((format) => media[format]),
    headers: ['Content-Disposition' as const],
  },
});

/** Operations on one document with signatures: read, change, export, sign and revise it. */
export function registerSignedDocument(app: App, api: SigningApi): void {
  const { kind, tag, name, one, parameter, schema } = api;
  const url: string = `${api.url}/:${parameter}`;
  const file: string = `${url}/export`;
  const routes = routesOf(app, { tag });

  routes.get(`get${name}`, url, {
    summary: `Read ${one}`,
    permission: kind.rights.view,
    responses: ok(`The ${api.short}`, schema),
    handler: ({ ctx, params }) => readRecord(ctx, kind, params[parameter]!),
  });

  routes.patch(`patch${name}`, url, {
    summary: `Change ${one}`,
    description: `${api.patch.description} A document in review has to be recalled first (409). A signed one cannot be changed (403 \`document_signed\`), only revised.`,
    permission: kind.rights.manage,
    body: api.patch.body,
    responses: ok(`The ${api.short}`, schema, 'ETag'),
    errors: ['document_signed', 'wrong_state', 'use_operation'],
    handler: ({ ctx, params, body }) => patchRecord(ctx, kind, params[parameter]!, body as object),
  });

  routes.get(`export${name}`, file, {
    summary: `Export ${one} as a file`,
    description: api.export.description,
    permission: kind.rights.view,
    query: object({
      format: Choice(api.export.formats, { default: 'docx', description: 'The format of the file' }),
    }),
    errors: ['query_too_heavy', 'too_many_requests', 'unavailable'],
    responses: fileOf(...api.export.formats),
    handler: async ({ ctx, params, query, reply }) => {
      const document = await api.export.read(ctx, params[parameter]!);
      return await sendFile(reply, { ...document, format: query.format }, ctx.caller.userId);
    },
  });
  registerSigning(app, api);
}

function registerSigning(app: App, api: SigningApi): void {
  const { kind, tag, name, one, parameter, schema } = api;
  const at = (action: string) => `${api.url}/:${parameter}/${action}`;
  const shared = { ifMatch: true, responses: ok(`The ${api.short}`, schema, 'ETag') };
  const routes = routesOf(app, { tag });

  routes.post(`request${name}Signatures`, at('request-signatures'), {
    ...shared,
    summary: `Request signatures for ${one}`,
    description: `From \`draft\` to \`in_review\`: each signatory gets a to-do and a notification. Signatories must be active and have \`${kind.rights.view}\` and \`${kind.rights.sign}\`. A document in review cannot be edited.`,
    permission: kind.rights.manage,
    body: SignatureRequestBody,
    errors: ['wrong_state'],
    handler: ({ ctx, params: given, body }) => requestSignatures(ctx, kind, given[parameter]!, body),
  });

  routes.post(`sign${name}`, at('sign'), {
    ...shared,
    summary: `Sign ${one}`,
    description:
      'As one of its signatories, with the hash of its content. With the last signature it becomes `signed` and cannot be changed.',
    permission: kind.rights.sign,
    permissionNote: `${kind.rights.view}; to be asked for the signature`,
    errors: ['wrong_state', 'not_signatory'],
    handler: ({ ctx, params: given }) => signRecord(ctx, kind, given[parameter]!),
  });

  routes.post(`recall${name}Signatures`, at('recall-signatures'), {
    ...shared,
    summary: `Recall the signature request of ${one}`,
    description: 'It becomes a `draft` again; to-dos are withdrawn and existing signatures are void.',
    permission: kind.rights.manage,
    errors: ['wrong_state'],
    handler: ({ ctx, params: given }) => recallSignatures(ctx, kind, given[parameter]!),
  });

  routes.post(`replace${name}Signatory`, at('replace-signatory'), {
    ...shared,
    summary: `Replace a signatory of ${one}`,
    description:
      'Only signatories who have not signed can be replaced, such as those whose account is not active (`is_active`). Existing signatures remain valid.',
    permission: kind.rights.manage,
    body: ReplacementBody,
    errors: ['wrong_state'],
    handler: ({ ctx, params: given, body }) => replaceSignatory(ctx, kind, given[parameter]!, body),
  });

  routes.post(`reject${name}`, at('reject'), {
    ...shared,
    summary: `Reject ${one}`,
    description:
      'As one of the pending signatories. It becomes a `draft` again, with the reason under `rejection`.',
    permission: kind.rights.sign,
    permissionNote: `${kind.rights.view}; to be asked for the signature`,
    body: RejectBody,
    bodyExample: { comment: 'The costs of the second option are missing.' },
    errors: ['wrong_state', 'not_signatory'],
    handler: ({ ctx, params: given, body }) => rejectRecord(ctx, kind, given[parameter]!, body),
  });

  routes.post(`revise${name}`, at('revise'), {
    ...shared,
    summary: `Create the next revision of a signed ${api.short}`,
    description: `A \`draft\` with the same content, the next \`revision_number\` and the signed one as \`parent_id\`. Refused if a later revision exists.`,
    permission: kind.rights.manage,
    responses: ok('The new revision', schema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params: given }) => reviseRecord(ctx, kind, given[parameter]!),
  });

  routes.get(`compare${name}Revisions`, at('comparison'), {
    summary: `Compare two revisions of ${one}`,
    description: 'Field by field, from the older to the newer, in either order of the parameters.',
    permission: kind.rights.view,
    query: ComparisonQuery,
    responses: ok('What differs', ComparisonSchema),
    handler: ({ ctx, params: given, query }) => compareRevisions(ctx, kind, given[parameter]!, query.with),
  });

  routes.get(`list${name}Revisions`, at('revisions'), {
    summary: `List the revisions of a ${api.short}`,
    permission: kind.rights.view,
    query: listQuery(api.sorts, 'revision_number', {}),
    responses: ok('All of them, the first one first', api.listed),
    handler: ({ ctx, params: given, query }) => listRevisions(ctx, kind, given[parameter]!, query),
  });
}
