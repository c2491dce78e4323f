import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fieldErrors, fieldRules } from '../../../../domain/app/workspace/workspace.fields.ts';
import { contentTable } from '../../../../domain/app/workspace/workspace.tables.ts';
import createPaths from './fields.creates.json' with { type: 'json' };

/** The operations that write one row of a kind. */
const creates: Record<string, string> = createPaths;

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  maxLength?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
}

describe('the rules of columns', () => {
  it('are those of single writes', async () => {
    const api = JSON.parse(await readFile(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'));
    const whole = (schema: Schema): Schema => {
      const own = schema.$ref ? api.components.schemas[schema.$ref.split('/').at(-1)!] : schema;
      return Object.assign({}, ...(own.anyOf ?? []).map(whole), own);
    };
    expect(Object.keys(fieldRules)).toEqual(expect.arrayContaining(Object.keys(creates)));
    for (const [kind, path] of Object.entries(creates)) {
      expect(contentTable.has(kind), kind).toBe(true);
      const rules = fieldRules[kind]!;
      const { content } = api.paths[`/api/v1${path}`].post.requestBody;
      const { properties = {} } = whole(content['application/json'].schema);
      const written = Object.entries(rules).filter(([field]) => field in properties);
      expect(written.length, kind).toBeGreaterThan(0);
      for (const [field, { max, filled, pattern, least, most }] of written) {
        const said = whole(properties[field]!);
        const declared = [
          said.maxLength,
          said.pattern && said.pattern !== '\\S' ? true : undefined,
          said.minimum,
          said.maximum,
        ];
        const own = [max, pattern !== undefined || undefined, least, most];
        expect([kind, field, ...own.map((one) => one ?? undefined)]).toEqual([
          kind,
          field,
          ...declared.map((one) => one ?? undefined),
        ]);
        if (pattern) expect(pattern.source).toBe(said.pattern);
        if (filled) expect(said.minLength, `${kind}.${field}`).toBe(1);
      }
    }
  });

  it('name each column that breaks one', () => {
    const rules = {
      name: { max: 3, filled: true as const },
      color: { pattern: /^#/ },
      n: { least: 1, most: 2 },
    };
    expect(fieldErrors(rules, { name: '😀😀😀', color: null, n: 2 })).toEqual([]);
    expect(fieldErrors(rules, {})).toEqual([]);
    expect(
      fieldErrors(rules, { name: 'abcd', color: 'red', n: 3 }).map(({ field, code }) => `${field} ${code}`),
    ).toEqual(['name too_long', 'color format', 'n out_of_range']);
    expect(fieldErrors(rules, { name: ' ' })[0]!.code).toBe('required');
  });
});
