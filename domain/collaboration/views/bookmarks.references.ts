import { embed, fragment } from '../../../platform/database.ts';
import { References, renameKeys } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { changeRow } from '../../kernel/resources/items.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { bookmarkEvent, visibleBookmarks } from './bookmarks.commands.ts';
import type { BookmarkFilters } from './bookmarks.input.ts';
import { Bookmark, type BookmarkRow } from './views.model.ts';

type Sorted = { field?: string; further?: { field: string }[] };
type Layout = { group_by?: string; widths?: Record<string, number> };

/** Saved views, and views with a feed. */
export const viewConsumers = defineConsumers<
  Pick<BookmarkRow, 'card_type' | 'filters' | 'columns' | 'sort' | 'layout'>
>({
  tables: ['bookmarks'],
  rows: (
    ctx,
  ) => fragment`select b.id::text, case when b.odata_enabled then 'feed' else 'view' end as kind, b.name, b.owner_id,
      null::timestamptz as last_used_at, '/api/v1/bookmarks/' || b.id as link, ${embed(visibleBookmarks(ctx))} as is_visible,
      jsonb_build_object('card_type', b.card_type, 'filters', b.filters, 'columns', b.columns, 'sort', b.sort,
        'layout', b.layout) as content
    from bookmarks b`,
  references(content, metamodel) {
    const { card_type, filters, columns, sort, layout } = content;
    const found = new References(metamodel);
    const {
      types = [],
      subtypes = [],
      attributes = {},
      relations = {},
      expression,
    } = (filters ?? {}) as BookmarkFilters;
    const scope = types.length > 0 ? types : card_type ? [card_type] : undefined;
    found.type(...types, ...(card_type ? [card_type] : []));
    for (const key of subtypes) found.subtype(key, scope);
    renameKeys(attributes, (key, value) => [found.field(key, scope), found.value(key, scope, value)]);
    for (const key of Object.keys(relations)) found.relationType(key);
    if (expression) (filters as BookmarkFilters).expression = found.filter(expression, scope);
    content.columns = columns?.map((name) => found.path(name, scope)) ?? null;
    const sorted = (sort ?? {}) as Sorted;
    for (const one of [sorted, ...(sorted.further ?? [])])
      if (one.field !== undefined) one.field = found.path(one.field, scope);
    const shown = (layout ?? {}) as Layout;
    if (shown.group_by) shown.group_by = found.path(shown.group_by, scope);
    renameKeys(shown.widths ?? {}, (name, width) => [found.path(name, scope), width]);
    return found.all;
  },
  async write(work, id, { filters, columns, sort, layout }) {
    const row = await lockRow(work.sql, Bookmark, { id });
    if (row) await changeRow(work, Bookmark, row, { filters, columns, sort, layout }, bookmarkEvent);
  },
});
