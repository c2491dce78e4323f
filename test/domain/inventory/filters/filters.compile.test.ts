import { describe, expect, it } from 'vitest';
import { checkFilter } from '../../../../domain/inventory/filters/filters.check.ts';
import { compileFilter } from '../../../../domain/inventory/filters/filters.compile.ts';
import { parseFilter } from '../../../../domain/inventory/filters/filters.parser.ts';
import type { Condition } from '../../../../domain/kernel/lists/lists.types.ts';
import { regionGroup, sampleSchema } from './sample-schema.ts';

const schema = sampleSchema();
const me = '0193f5a1-1111-7222-8333-444455556666';
const compile = (text: string, visible?: Condition) =>
  compileFilter(checkFilter(parseFilter(text)!, schema).root, { me, visible });

const like = "regexp_replace(fold(?::text), '([\\\\%_])', '\\\\\\1', 'g') || '%'";

describe('the SQL of a condition', () => {
  it.each<[string, string, unknown[]]>([
    ['type = Application', 'c.type = ?::text', ['Application']],
    ['type in (Application, Lab)', 'c.type = any(?::text[])', [['Application', 'Lab']]],
    ['type != Application', 'not (c.type = ?::text)', ['Application']],
    ['alias != x', '(c.alias = ?::text) is not true', ['x']],
    ['not alias != x', 'c.alias = ?::text', ['x']],
    ['alias is empty', "not (coalesce(c.alias, '') <> '')", []],
    ['parent is empty', 'not (c.parent_id is not null)', []],
    [`parent = ${me}`, 'c.parent_id = ?::uuid', [me]],
    ['name ~ "a%b"', `c.name_key like '%' || ${like}`, ['a%b']],
    ['description starts with a', `fold(c.description) like ${like}`, ['a']],
    ['data_quality between 20 and 60', 'c.data_quality between ?::numeric and ?::numeric', [20, 60]],
    [
      'updated_at > 2026-01-01T00:00:00Z',
      "c.updated_at >= (?::timestamptz + interval '1 millisecond')",
      ['2026-01-01T00:00:00.000Z'],
    ],
    [
      'created_at = 2026-01-01',
      "(c.created_at >= ?::timestamptz and c.created_at < (?::timestamptz + interval '24 hours'))",
      ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
    ],
    ['created_by = me', 'c.created_by = ?::uuid', [me]],
    [
      'created_by in (me, "a@b.c")',
      '(c.created_by = ?::uuid or c.created_by in (select u.id from users u where lower(u.email) = lower(?::text)))',
      [me, 'a@b.c'],
    ],
    ['attributes.tier = gold', 'c.attributes @> ?::jsonb', ['{"tier":"gold"}']],
    ['attributes.tier != gold', 'not (c.attributes @> ?::jsonb)', ['{"tier":"gold"}']],
    ['attributes.topics = gold', 'c.attributes @> ?::jsonb', ['{"topics":["gold"]}']],
    ['attributes.open = false', 'c.attributes @> ?::jsonb', ['{"open":false}']],
    ['attributes."odd key" = "\\"?"', 'c.attributes @> ?::jsonb', ['{"odd key":"\\"?"}']],
    [
      'attributes.shade in (red, 7)',
      '((c.attributes @> ?::jsonb or c.attributes @> ?::jsonb) or (c.attributes @> ?::jsonb or c.attributes @> ?::jsonb))',
      ['{"shade":["red"]}', '{"shade":["7"]}', '{"shade":"red"}', '{"shade":"7"}'],
    ],
    [
      'attributes.size >= 1e4',
      "case when jsonb_typeof(c.attributes -> ?::text) = 'number' then (c.attributes ->> ?::text)::numeric >= ?::numeric end",
      ['size', 'size', 10_000],
    ],
    [
      'attributes.since < 2027-01-01',
      `((c.attributes ->> ?::text) like '____-__-__' and (c.attributes ->> ?::text) collate "C" < ?::text)`,
      ['since', 'since', '2027-01-01'],
    ],
    [
      'attributes.note is not empty',
      `coalesce(c.attributes -> ?::text, 'null') not in ('null', '""', '[]')`,
      ['note'],
    ],
    [
      'lifecycle.endOfLife < 2027-01-01',
      '(c.lifecycle ->> ?::text) collate "C" < ?::text',
      ['endOfLife', '2027-01-01'],
    ],
    [
      'tags = "Region/EU"',
      'exists (select from card_tags ct join tags t on t.id = ct.tag_id where (ct.card_id = c.id and (t.tag_group_id = ?::uuid and lower(t.name) = lower(?::text))))',
      [regionGroup.id, 'EU'],
    ],
    [
      'tags.Region is empty',
      'not (exists (select from card_tags ct join tags t on t.id = ct.tag_id where (ct.card_id = c.id and t.tag_group_id = ?::uuid)))',
      [regionGroup.id],
    ],
    [
      'stakeholder.responsible = me',
      'exists (select from stakeholders s where (s.card_id = c.id and s.role = ? and s.user_id = ?::uuid))',
      ['responsible', me],
    ],
    [
      'relation.relAppToITC exists',
      '(exists (select from relations r1 where (r1.type = ? and r1.target_id = c.id)) or exists (select from relations r2 where (r2.type = ? and r2.source_id = c.id)))',
      ['relAppToITC', 'relAppToITC'],
    ],
    [
      'relation.relAppToITC.target.name != "Oracle"',
      'exists (select from relations r1 join cards c1 on c1.id = r1.target_id where (r1.type = ? and r1.source_id = c.id and not (c1.name = ?::text)))',
      ['relAppToITC', 'Oracle'],
    ],
    [
      'relation.relAppToITC.target.relation.relITCSuccessor.source is empty',
      'exists (select from relations r1 join cards c1 on c1.id = r1.target_id where (r1.type = ? and r1.source_id = c.id and not (exists (select from relations r2 where (r2.type = ? and r2.target_id = c1.id)))))',
      ['relAppToITC', 'relITCSuccessor'],
    ],
    [
      'not (type = Lab and (alias = x or not name = y))',
      '(not (c.type = ?::text) or ((c.alias = ?::text) is not true and c.name = ?::text))',
      ['Lab', 'x', 'y'],
    ],
  ])('%s', (text, sql, bindings) => {
    expect(compile(text)).toEqual({ sql, bindings });
  });

  it('lets related cards count only where they are seen', () => {
    const visible = { sql: 'c.type <> ? or false', bindings: ['Secret'] };
    expect(compile('relation.relAppToITC.target exists', visible)).toEqual({
      sql: 'exists (select from relations r1 where (r1.type = ? and r1.source_id = c.id and exists (select from cards c where c.id = r1.target_id and (c.type <> ? or false))))',
      bindings: ['relAppToITC', 'Secret'],
    });
    expect(compile('relation.relAppToITC.target exists', { sql: 'true', bindings: [] }).sql).not.toContain(
      'cards c',
    );
  });

  it('finds nobody by "me" where nobody asks', () => {
    const { root } = checkFilter(parseFilter('created_by = me')!, schema);
    expect(compileFilter(root, { me: null })).toEqual({ sql: 'false', bindings: [] });
  });
});
