import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { hasOptionalBody } from '../operation.body.ts';
import {
  errorCodesOf,
  joinsBatches,
  type OperationSpec,
  type RawBody,
  takesIdempotencyKey,
  takesIfMatch,
} from '../operation.ts';
import {
  type MediaType,
  type OpenApiOperation,
  type OpenApiParameter,
  type OpenApiResponse,
  reference,
  type Schema,
} from './document.ts';
import { errorResponses, otherResponse } from './errors.ts';
import { exampleOf } from './examples.ts';
import { type RequestHeader, type ResponseHeader, requestHeaderRef, responseHeaderRefs } from './headers.ts';
import { bodySchema, describedParameter } from './requests.ts';
import { capital } from './schema-names.ts';

type Schemas = Record<string, Schema>;

/** Examples of request and response bodies, by operation. */
const examples: Record<string, { body?: unknown; responses?: Record<string, unknown> }> = parse(
  readFileSync(new URL('./examples.yaml', import.meta.url), 'utf8'),
);

/** Adds everything from the declaration to the framework's description of an operation. */
export function describeOperation(
  path: string,
  collected: OpenApiOperation,
  spec: OperationSpec,
  schemas: Schemas,
): OpenApiOperation {
  const codes = errorCodesOf(spec);
  const conditional = isConditional(spec);
  const parameters = [
    ...(collected.parameters ?? []).map((parameter) => describedParameter(parameter, path)),
    ...requestHeadersOf(spec, conditional).map(requestHeaderRef),
  ];
  const requestBody = requestBodyOf(collected, spec, schemas);
  return {
    tags: [spec.tag],
    summary: spec.summary,
    description: descriptionOf(spec),
    operationId: spec.id,
    'x-permission': permissionOf(spec),
    ...(spec.module ? { 'x-module': spec.module } : {}),
    'x-error-codes': codes,
    ...securityOf(spec, path),
    parameters: parameters as OpenApiParameter[],
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...successes(collected, spec, schemas),
      ...(conditional ? { 304: notModified } : {}),
      ...errorResponses(codes, spec.format),
      // for operations without input that could be invalid
      ...(codes.length === 0 ? { '4XX': other } : {}),
      default: spec.format === 'scim' || spec.format === 'odata' ? otherResponse(spec.format) : other,
    },
  };
}

const other = reference<OpenApiResponse>('responses', 'Other');

const notModified: OpenApiResponse = {
  description: 'Not changed since the response whose ETag the client sent',
  headers: responseHeaderRefs(['ETag', 'X-Request-Id']),
};

/** What an operation requires additional its permission, each with its condition. */
const additionalRequirements = (spec: OperationSpec): string[] => [
  ...(spec.scope ? [`scope ${spec.scope}`] : []),
  ...(spec.permissionNote?.split('; ') ?? []),
];

/** The permission in one line: the key or alternative keys, and after ` / ` additional requirements. */
function permissionOf(spec: OperationSpec): string {
  const keys = [spec.permission].flat().join(' | ');
  const additional = additionalRequirements(spec);
  return additional.length > 0 ? `${keys} / ${additional.join('; ')}` : keys;
}

/** Marks permission keys in a text as code. */
const markKeys = (words: string): string => words.replace(/\b[a-z_]+\.[a-z_]+\b/g, '`$&`');

function descriptionOf(spec: OperationSpec): string {
  const keys = [spec.permission].flat();
  const needs =
    spec.permission === 'public'
      ? 'Public: no token is required.'
      : spec.permission === 'login'
        ? 'Permission: any login.'
        : `Permission: ${keys.map((key) => `\`${key}\``).join(' or ')}.`;
  const additional = additionalRequirements(spec).map((need) => `- Also required: ${markKeys(need)}.`);
  return [spec.description, needs, additional.join('\n')].filter(Boolean).join('\n\n');
}

/** The schemes of operations that need a login and declare no other ones. */
export const loginSecurity = [{ bearer: [] }, { basic: [] }, { cookie: [] }];

function securityOf({ permission, ticket }: OperationSpec, path: string): { security?: object[] } {
  if (permission === 'public') return { security: [] };
  if (!path.startsWith('/api/v1/')) return { security: loginSecurity.slice(0, 2) };
  return ticket ? { security: [...loginSecurity, { ticket: [] }] } : {};
}

/** Whether the response of a GET has an ETag derived from its body. */
function isConditional(spec: OperationSpec): boolean {
  const answer = spec.responses[200];
  const json =
    answer?.schema !== undefined &&
    [answer.mediaType ?? 'application/json'].flat().every((type) => type.endsWith('json'));
  return spec.method === 'GET' && (json || Boolean(spec.headers?.includes('If-None-Match')));
}

function requestHeadersOf(spec: OperationSpec, conditional: boolean): RequestHeader[] {
  const names = new Set<RequestHeader>(spec.headers);
  if (takesIdempotencyKey(spec)) names.add('Idempotency-Key');
  if (takesIfMatch(spec)) names.add('If-Match');
  if (conditional) names.add('If-None-Match');
  if (spec.languages) names.add('Accept-Language');
  if (joinsBatches(spec)) names.add('X-Action-Id').add('X-Mutation-Batch').add('X-Request-Origin');
  names.add('X-Request-Id');
  return [...names].sort();
}

function requestBodyOf(
  collected: OpenApiOperation,
  spec: OperationSpec,
  schemas: Schemas,
): OpenApiOperation['requestBody'] {
  if (spec.consumes) {
    const bodies: [string, RawBody][] = Array.isArray(spec.consumes)
      ? spec.consumes.map((mediaType) => [mediaType, {}])
      : Object.entries(spec.consumes);
    const content = bodies.map(([mediaType, body]) => [mediaType, rawBody(mediaType, body)] as const);
    return { required: true, content: Object.fromEntries(content) };
  }
  const media = collected.requestBody?.content['application/json'];
  if (!media) return undefined;
  const schema = bodySchema(media.schema);
  const example =
    spec.bodyExample ??
    examples[spec.id]?.body ??
    media.example ??
    exampleOf(schema, schemas, capital(spec.id));
  const required = !hasOptionalBody(spec);
  const mediaTypes = ['application/json'];
  if (spec.format === 'scim') mediaTypes.unshift('application/scim+json');
  else if (spec.method === 'PATCH') mediaTypes.push('application/merge-patch+json');
  return { required, content: Object.fromEntries(mediaTypes.map((type) => [type, { schema, example }])) };
}

function rawBody(mediaType: string, body: RawBody): MediaType {
  const file: Schema = {
    type: 'object',
    properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
    required: ['file'],
  };
  const schema = (body.schema as Schema) ?? (mediaType.startsWith('multipart/') ? file : { type: 'string' });
  return { schema, ...(body.example === undefined ? {} : { example: body.example }) };
}

function successes(
  collected: OpenApiOperation,
  spec: OperationSpec,
  schemas: Schemas,
): Record<string, OpenApiResponse> {
  return Object.fromEntries(
    Object.entries(spec.responses).map(([status, answer]) => {
      const content = Object.entries(collected.responses[status]?.content ?? {}).map(([mediaType, media]) => {
        const example =
          answer.example ??
          examples[spec.id]?.responses?.[status] ??
          (/[/+]json$/.test(mediaType) ? exampleOf(media.schema, schemas, capital(spec.id)) : undefined);
        return [mediaType, { schema: media.schema, ...(example === undefined ? {} : { example }) }] as const;
      });
      const response: OpenApiResponse = {
        description: answer.description,
        headers: responseHeaderRefs([...headersOf(spec, Number(status)), ...(answer.headers ?? [])]),
        ...(content.length > 0 ? { content: Object.fromEntries(content) } : {}),
      };
      return [status, response];
    }),
  );
}

/** Headers that follow from method and status. */
function headersOf(spec: OperationSpec, status: number): ResponseHeader[] {
  const names: ResponseHeader[] = ['X-Request-Id'];
  if (isConditional(spec) && status === 200) names.push('ETag');
  if (spec.languages && status < 202) names.push('Content-Language', 'Vary');
  if (spec.method !== 'GET') names.push('X-Position');
  if (joinsBatches(spec) && status !== 202) names.push('X-Mutation-Batch');
  if (takesIdempotencyKey(spec)) names.push('Idempotent-Replayed');
  if (status === 202 && spec.format !== 'mcp') names.push('Location');
  if (status === 206) names.push('Content-Range');
  if (status < 202 && namesMetamodel(spec)) names.push('Deprecation', 'Sunset');
  return names;
}

/** Whether requests of the operation usually name parts of the metamodel, which can be deprecated. */
function namesMetamodel({ url, query }: OperationSpec): boolean {
  const { filter, $filter } =
    (query as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};
  if (filter !== undefined || $filter !== undefined) return true;
  return /^\/api\/v1\/((cards|relations)(\/:id)?|metamodel\/(relation-)?types\/:key)$/.test(url);
}
