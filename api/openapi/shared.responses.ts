import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from './document.ts';
import { capital } from './schema-names.ts';

/** Codes that always occur codeGroups get one name. */
const codeGroups: [name: string, codes: string[]][] = [
  ['cursor', ['cursor_expired', 'cursor_mismatch']],
  ['idempotency', ['idempotency_in_progress', 'idempotency_key_reused']],
];

/** Maximum number of codes in a component's name. */
const MAX_NAMES = 4;

/** Moves error responses of several operations to the components. */
export function shareResponses(document: OpenApiDocument): OpenApiDocument {
  const uses = new Map<string, number>();
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const response of operations.flatMap(failures)) {
    const text = JSON.stringify(response);
    uses.set(text, (uses.get(text) ?? 0) + 1);
  }
  const shared: Record<string, OpenApiResponse> = {};
  const share = (status: string, response: OpenApiResponse): OpenApiResponse => {
    const name = nameOf(status, response);
    if (!name || uses.get(JSON.stringify(response)) === 1) return response;
    shared[name] ??= response;
    if (JSON.stringify(shared[name]) !== JSON.stringify(response)) {
      throw new Error(`two responses would have the name ${name}`);
    }
    return { $ref: `#/components/responses/${name}` } as unknown as OpenApiResponse;
  };
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [
          method,
          {
            ...operation,
            responses: Object.fromEntries(
              Object.entries(operation.responses).map(([status, response]) => [
                status,
                isFailure(status) ? share(status, response) : response,
              ]),
            ),
          },
        ]),
      ),
    ]),
  );
  const responses = { ...document.components.responses, ...shared };
  return {
    ...document,
    paths,
    components: {
      ...document.components,
      responses: Object.fromEntries(Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

const isFailure = (status: string): boolean => !status.startsWith('2');

const failures = ({ responses }: OpenApiOperation): OpenApiResponse[] =>
  Object.entries(responses)
    .filter(([status, response]) => isFailure(status) && !('$ref' in response))
    .map(([, response]) => response);

/** For example `CursorOrValidationFailed`, prefixed by `Scim`, `OData`, `Mcp` or `Page` if it is not a problem document. */
function nameOf(status: string, response: OpenApiResponse): string | undefined {
  if ('$ref' in response) return undefined;
  const media = Object.keys(response.content ?? {});
  const form = media.includes('application/scim+json')
    ? 'Scim'
    : media.includes('text/html')
      ? 'Page'
      : media.length > 1
        ? 'Mcp'
        : media[0] === 'application/json'
          ? 'OData'
          : '';
  if (status === '304') return 'NotModified';
  if (status === 'default') return `${form}Other`;
  let names = response['x-error-codes'] ?? [];
  for (const [name, codes] of codeGroups) {
    if (!codes.every((code) => names.includes(code))) continue;
    names = [...names.filter((one) => !codes.includes(one)), name].sort();
  }
  if (names.length === 0 || names.length > MAX_NAMES) return undefined;
  return form + names.map(capital).join('Or');
}
