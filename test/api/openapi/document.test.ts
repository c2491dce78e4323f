import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument, Schema } from '../../../api/openapi/document.ts';
import { appPermissions } from '../../../domain/kernel/permissions/permissions.data.ts';
import { errorCodes } from '../../../platform/errors.ts';
import { openApp } from '../../support/harness.ts';
import { exampleIn } from '../../support/openapi.ts';

const document = (await openApp()).t.app.swagger() as unknown as OpenApiDocument;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    where: `${method.toUpperCase()} ${path}`,
    path,
    method,
    operation,
  })),
);
const ajv = new Ajv.default({ strict: false, allErrors: true, code: { optimize: false } });
addFormats.default(ajv, { mode: 'full' });
ajv.addSchema({ $id: 'document', components: document.components });

/** Whether the value fits a schema of the document; else what is wrong with it. */
function faults(schema: Schema, value: unknown): string[] {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  const validate = ajv.compile(JSON.parse(text));
  return validate(value)
    ? []
    : (validate.errors ?? []).map((fault) => `${fault.instancePath} ${fault.message}`);
}

/** What stands at a place, or the component that is referred to there. */
function resolve<T extends object>(part: T): T {
  const { $ref } = part as { $ref?: string };
  if ($ref === undefined) return part;
  const [, , kind, name] = $ref.split('/');
  return resolve(document.components[kind!]![name!] as T);
}

describe('every operation', () => {
  test('has a name of its own, a listed tag, a summary and a description', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    const tags = (document.tags as { name: string }[]).map(({ name }) => name);
    for (const { where, operation } of operations) {
      expect(operation.operationId, where).toMatch(/^[a-z][A-Za-z0-9]+$/);
      expect(tags, where).toContain((operation.tags as string[])[0]);
      expect(operation.summary, where).toMatch(/^\S.*[^.]$/);
      expect(operation.description, where).toBeTruthy();
    }
  });

  test('has a permission of the catalogue, and security to match', () => {
    const known = new Set<string>([...Object.keys(appPermissions), 'public', 'login']);
    for (const { where, operation } of operations) {
      const permission = operation['x-permission'] as string;
      const keys = permission.split(' / ')[0]!.split(' | ');
      expect(
        keys.filter((key) => !known.has(key)),
        where,
      ).toEqual([]);
      const security = (operation.security ?? document.security) as object[];
      if (permission === 'public') expect(security, where).toEqual([]);
      else expect(security[0], where).toEqual({ bearer: [] });
    }
  });

  test('declares the limit of files and pictures that wait to be made, unless it sends what is stored or streams rows', () => {
    const withoutQueue = [
      /\/(download|file|result)$/,
      /\/diagram\/export\/svg$/,
      /^\/api\/v1\/extracts\//,
      /\/sync\/runs\/\{run_id\}\/plan$/,
    ];
    const made = operations.filter(({ path, operation }) => {
      const media = Object.keys(operation.responses['200']?.content ?? {});
      return (
        media.some((type) => /svg|pdf|officedocument/.test(type)) &&
        !withoutQueue.some((pattern) => pattern.test(path))
      );
    });
    expect(made.length).toBeGreaterThan(30);
    expect(made.filter(({ operation }) => !operation.responses['429']).map(({ where }) => where)).toEqual([]);
  });

  test('lists what it needs in its description, each need with its condition', () => {
    const byId = new Map(operations.map(({ operation }) => [operation.operationId, operation]));
    const needs = (id: string) => (byId.get(id)!.description as string).split('\n\n').slice(-2);
    expect(needs('listCards').at(-1)).toMatch(/^Permission: /);
    expect(needs('readCapabilityHeatmapReport')).toEqual([
      'Permission: `reports.ea_dashboard`.',
      [
        '- Also required: `relations.view`.',
        '- Also required: `costs.view` for the metric total_cost and the rule mean.',
        '- Also required: `risks.view` for the metric risk_count.',
      ].join('\n'),
    ]);
    expect(needs('changeLoginBranding')).toEqual([
      'Permission: `admin.settings`.',
      '- Also required: every permission when `login_help_link` is changed.',
    ]);
    for (const { where, operation } of operations) {
      const [, besides] = (operation['x-permission'] as string).split(' / ');
      for (const need of besides?.split('; ') ?? []) {
        expect(need, where).not.toMatch(/^and |[.]$|^$/);
        expect((operation.description as string).replaceAll('`', ''), where).toContain(
          `- Also required: ${need.replaceAll('`', '')}.`,
        );
      }
    }
  });

  test('has a 2xx answer with a full schema, or one that is empty', () => {
    for (const { where, operation } of operations) {
      const good = Object.entries(operation.responses).filter(([status]) => /^2\d\d$/.test(status));
      expect(good.length, where).toBeGreaterThan(0);
      for (const [status, response] of good) {
        const { content } = resolve(response);
        // the protocol has messages without an answer, which are taken with an empty 202
        if (status === '204' || (status === '202' && operation.operationId === 'sendMcpMessage')) {
          expect(content, where).toBeUndefined();
          continue;
        }
        expect(Object.keys(content ?? {}).length, `${where} ${status}`).toBeGreaterThan(0);
        for (const [mediaType, { schema }] of Object.entries(content!)) {
          const full = resolve(schema);
          expect(Boolean(full.type ?? full.anyOf ?? full.oneOf ?? full.allOf), `${where} ${mediaType}`).toBe(
            true,
          );
        }
      }
      const unchanged = operation.responses['304'];
      if (unchanged) expect(resolve(unchanged).content, where).toBeUndefined();
    }
  });

  test('lists its errors by code, each at its status', () => {
    for (const { where, operation } of operations) {
      const codes = operation['x-error-codes'] as (keyof typeof errorCodes)[];
      const byStatus = Object.entries(operation.responses).flatMap(([status, response]) =>
        status === 'default'
          ? []
          : (resolve(response)['x-error-codes'] ?? []).map((code) => `${status} ${code}`),
      );
      expect(byStatus.sort(), where).toEqual(
        codes.map((code) => `${errorCodes[code].status} ${code}`).sort(),
      );
    }
  });

  test('describes each of its parameters, and each path parameter is one', () => {
    for (const { where, path, operation } of operations) {
      const parameters = (operation.parameters ?? []).map(resolve);
      expect(
        parameters.filter(({ description }) => !description).map(({ name }) => name),
        where,
      ).toEqual([]);
      const optional = parameters.filter(({ schema }) => schema.default !== undefined);
      expect(
        optional.filter(({ required }) => required).map(({ name }) => name),
        where,
      ).toEqual([]);
      expect(
        parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
        where,
      ).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  test('has examples of its JSON body and answers, and they fit their schemas', () => {
    for (const { where, operation } of operations) {
      const media = [
        ...Object.entries(operation.requestBody?.content ?? {}),
        ...Object.entries(operation.responses)
          .filter(([status]) => status.startsWith('2'))
          .flatMap(([, response]) => Object.entries(resolve(response).content ?? {})),
      ];
      for (const [mediaType, { schema, ...given }] of media) {
        const example = exampleIn(document, given);
        if (mediaType === 'application/json') expect(example, `${where} ${mediaType}`).toBeDefined();
        if (example !== undefined) expect(faults(schema, example), `${where} ${mediaType}`).toEqual([]);
      }
    }
  });
});

test('examples of problems and of headers fit their schemas', () => {
  const problems = Object.entries(document.components.examples ?? {}).filter(([name]) => /^[a-z]/.test(name));
  for (const [code, example] of problems) {
    const { value } = example as { value: { code: string } };
    expect(value.code).toBe(code);
    expect(faults(document.components.schemas!.Problem as Schema, value), code).toEqual([]);
  }
  for (const [name, parameter] of Object.entries(document.components.parameters ?? {})) {
    const { in: place, schema, example } = parameter;
    if (place === 'header') expect(example, name).toBeDefined();
    if (example !== undefined) expect(faults(schema, example), name).toEqual([]);
  }
});

test('descriptions, which are Markdown, hold nothing that would be taken for HTML', () => {
  const texts = [...JSON.stringify(document).matchAll(/"(?:description|summary)":"((?:[^"\\]|\\.)*)"/g)];
  const outside = texts.map(([, text]) => text!.replace(/`[^`]*`/g, ''));
  expect(outside.filter((text) => /<\w/.test(text))).toEqual([]);
});

test('components are named after what they are, and nothing of the framework shows', () => {
  expect(Object.keys(document.components.schemas!).filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual(
    [],
  );
  expect(JSON.stringify(document)).not.toMatch(/def-\d|"\$id"|~kind|fastify/);
});

test('every number in an address or a query has bounds, or one would reach the database that it cannot hold', () => {
  const unbounded = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, { parameters?: { name: string; schema: Schema }[] }>).flatMap(
      ([method, { parameters = [] }]) =>
        parameters.flatMap((given) => {
          const { name, schema } = resolve(given);
          const { type, minimum, maximum } = schema as { type?: unknown; minimum?: number; maximum?: number };
          const isNumber = [type].flat().some((one) => one === 'integer' || one === 'number');
          // RFC 7644 takes numbers below the least for the least
          const least = minimum !== undefined || path.startsWith('/scim/');
          const bounded = least && maximum !== undefined;
          return isNumber && !bounded ? [`${method} ${path} ${name}`] : [];
        }),
    ),
  );
  expect(unbounded).toEqual([]);
});
