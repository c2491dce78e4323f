import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type MediaType = { schema?: object };
type OpenApiOperation = { operationId: string; responses: Record<string, OpenApiResponse> };
type OpenApiResponse = { $ref?: string; content?: Record<string, MediaType>; 'x-error-codes'?: string[] };
export interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, object>; responses: Record<string, OpenApiResponse> };
}

/** Checks answers against the OpenAPI document that the service itself gives out. */
export interface Conformance {
  /** @throws Error that says where the answer departs from its description. */
  check(method: string, url: string, status: number, contentType: string | undefined, body: string): void;
}

export function createConformance(document: OpenApiDocument): Conformance {
  // each check is made once and used a few times: to make it well would take longer than it saves
  const ajv = new Ajv.default({ strict: false, allErrors: true, code: { optimize: false } });
  addFormats.default(ajv, { mode: 'full' });
  ajv.addSchema({ $id: 'document', ...document });
  const paths = Object.entries(document.paths).map(([path, operations]) => ({
    path,
    operations,
    // literal parts before parameters, so that /cards/counts is not taken for /cards/{id}
    weight: path.split('/').filter((part) => part.includes('{')).length,
    pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
  }));
  paths.sort((a, b) => a.weight - b.weight);
  /** Paths that may be meant are as long, and have the same word after the version, or a parameter there. */
  const places = (path: string) => {
    const parts = path.split('/');
    return [`${parts.length} ${parts[3] ?? ''}`, `${parts.length} {}`] as const;
  };
  const byPlace = Map.groupBy(paths, ({ path }) => {
    const [literal, parameter] = places(path);
    return literal.includes('{') ? parameter : literal;
  });
  const pointer = (...names: string[]) =>
    names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

  /** Where the schema stands; one that only names a component is that component's, whose check all share. */
  const placeOf = (schema: MediaType['schema'], place: string): string => {
    const { $ref, ...more } = schema as { $ref?: string };
    return $ref !== undefined && Object.keys(more).length === 0 ? `document${$ref}` : `document#/${place}`;
  };

  return {
    check(method, url, status, contentType, body) {
      const pathname = url.split('?')[0]!.replace(/(?<=.)\/$/, '');
      const found = places(pathname)
        .flatMap((place) => byPlace.get(place) ?? [])
        .find((entry) => entry.pattern.test(pathname) && method.toLowerCase() in entry.operations);
      if (!found) {
        if ([404, 405, 501].includes(status)) return;
        throw new Error(`${method} ${pathname} answered ${status} but is not described`);
      }
      if (status === 304) return;
      const { responses } = found.operations[method.toLowerCase()]!;
      // a service that is not ready or has no space left may answer so anywhere; a fault of the service is right nowhere
      const elsewhere = !(status in responses) && (status === 503 || status === 507);
      const given = elsewhere ? { $ref: '#/components/responses/Other' } : responses[String(status)];
      const shared = given?.$ref?.split('/').at(-1);
      const response = shared === undefined ? given : document.components.responses[shared];
      const where = `${method} ${found.path} -> ${status}`;
      if (!response) throw new Error(`${where} is not described: ${body.slice(0, 500)}`);
      const media = (contentType ?? '').split(';')[0]!.trim();
      if (!response.content) {
        if (body !== '') throw new Error(`${where} is described as empty but holds ${body.slice(0, 200)}`);
        return;
      }
      const described = response.content[media];
      if (!described) throw new Error(`${where} has the undescribed media type "${media}"`);
      if (!/[/+]json$/.test(media) || !described.schema) return;
      const parsed = JSON.parse(body) as { jsonrpc?: string; code?: string; error?: { code: string } };
      // errors of JSON-RPC have numbers of their own
      const codes = parsed?.jsonrpc === undefined ? response['x-error-codes'] : undefined;
      const code = parsed?.code ?? parsed?.error?.code;
      if (codes && !codes.includes(code!))
        throw new Error(`${where} has the undescribed code ${code}: ${body}`);
      const place = shared
        ? ['components', 'responses', shared]
        : ['paths', found.path, method.toLowerCase(), 'responses', String(status)];
      const ref = placeOf(described.schema, pointer(...place, 'content', media, 'schema'));
      const validate = ajv.getSchema(ref) ?? ajv.compile({ $ref: ref });
      if (!validate(parsed)) {
        const faults = (validate.errors ?? [])
          .slice(0, 5)
          .map((fault) => `${fault.instancePath} ${fault.message} ${JSON.stringify(fault.params)}`);
        throw new Error(`${where} departs from its schema: ${faults.join('; ')}\n${body.slice(0, 1000)}`);
      }
    },
  };
}
