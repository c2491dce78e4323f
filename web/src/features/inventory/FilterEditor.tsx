import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError, call, listCards } from '#client';
import { useFormat } from '../../kit/format.ts';
import { useTexts } from '../../kit/messages.tsx';
import { styleNonce } from '../../kit/nonce.ts';
import { peopleQuery } from '../../kit/people.ts';
import { useReason } from '../../kit/reasons.ts';
import styles from './filter.module.css';
import { type FilterField, operatorsOf } from './filterFields.ts';
import type { InventorySearch } from './inventory.search.ts';
import { selectionOf } from './rows.ts';

interface FilterEditorProps {
  search: InventorySearch;
  fields: readonly FilterField[];
  onChange(search: InventorySearch): void;
}

/** The filter as text, with completion; the service checks it. Enter applies it. */
export function FilterEditor({ search, fields, onChange }: FilterEditorProps) {
  const t = useTexts();
  const { number } = useFormat();
  const reasonOf = useReason();
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const [text, setText] = useState(search.filter ?? '');
  const hasPeople = fields.some(({ kind }) => kind === 'person') && ID.test(text);
  const { data: people } = useQuery({ ...peopleQuery, enabled: hasPeople });
  useEffect(() => {
    editor.current?.dispatch({ effects: named.reconfigure(namesOf(people)) });
  }, [people]);
  const latest = useRef({ fields, apply: (_: string) => {} });
  latest.current = { fields, apply: (filter) => onChange({ ...search, filter: filter.trim() || undefined }) };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once and reads the rest by reference
  useEffect(() => {
    const view = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(styleNonce()),
          EditorView.contentAttributes.of({ 'aria-label': t('filter.text') }),
          EditorView.lineWrapping,
          history(),
          autocompletion({ override: [(context) => complete(context, latest.current.fields)], icons: false }),
          keymap.of([
            {
              key: 'Enter',
              run: ({ state }) => {
                latest.current.apply(state.doc.toString());
                return true;
              },
            },
            { key: 'Ctrl-Space', run: startCompletion },
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          words,
          faults,
          named.of(namesOf(undefined)),
          look,
          EditorView.updateListener.of((update) => update.docChanged && setText(update.state.doc.toString())),
        ],
      }),
    });
    editor.current = view;
    view.focus();
    return () => view.destroy();
  }, []);
  const [checked] = useDebouncedValue(text, CHECK_MS);
  const query = {
    ...selectionOf({ ...search, filter: checked.trim() || undefined }),
    page_size: 1,
    fields: 'id',
  };
  const { data, error, isFetching } = useQuery({
    queryKey: ['cards', 'check', query],
    queryFn: ({ signal }) => call(listCards({ signal, query })),
    retry: false,
  });
  const known = error instanceof ApiError ? error : undefined;
  const position = known?.problem.position as number | undefined;
  useEffect(() => {
    editor.current?.dispatch({ effects: setFault.of(isFetching ? undefined : position) });
  }, [position, isFetching]);
  return (
    <div className={styles.editor}>
      <div className={styles.code} ref={place} />
      <span className={styles.state} data-bad={error !== null} role="status">
        {error ? reasonOf(error) : null}
        {!error && data && t('filter.matches', { count: data.total ?? 0, shown: number(data.total ?? 0) })}
      </span>
    </div>
  );
}

const CHECK_MS = 300;

const keywords = /^(?:and|or|not|in|is|empty|between|starts|with|exists)$/i;
const fieldMark = Decoration.mark({ class: 'cm-field' });
const keywordMark = Decoration.mark({ class: 'cm-keyword' });
const textMark = Decoration.mark({ class: 'cm-text' });

/** Colours of keywords, fields and quoted texts. */
const words = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = marksOf(view.state.doc.toString());
    }
    update({ docChanged, state }: ViewUpdate) {
      if (docChanged) this.decorations = marksOf(state.doc.toString());
    }
  },
  { decorations: ({ decorations }) => decorations },
);

function marksOf(text: string): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { 0: word, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|[\p{L}\p{N}_][\p{L}\p{N}_.-]*/gu)) {
    const mark = word.startsWith('"') ? textMark : keywords.test(word) ? keywordMark : undefined;
    const isField = /^\s*(?:[=<>~!]|(?:not\s+)?in\b|is\b|between\b|starts\b|exists\b)/i.test(
      text.slice(index + word.length),
    );
    const chosen = mark ?? (isField ? fieldMark : undefined);
    if (chosen) builder.add(index, index + word.length, chosen);
  }
  return builder.finish();
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** A name in place of an id. */
class NameWidget extends WidgetType {
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }
  override eq(other: NameWidget) {
    return other.name === this.name;
  }
  toDOM() {
    const mark = document.createElement('span');
    mark.className = 'cm-name';
    mark.textContent = this.name;
    return mark;
  }
}

/** The extension that shows people by name; it changes when the names are known. */
const named = new Compartment();

/** Shows people by name; the text keeps their ids. */
function namesOf(people: ReadonlyMap<string, string> | undefined) {
  if (!people) return [];
  const matcher = new MatchDecorator({
    regexp: new RegExp(ID, 'g'),
    decoration([id]) {
      const name = people.get(id);
      return name === undefined ? null : Decoration.replace({ widget: new NameWidget(name) });
    },
  });
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = matcher.createDeco(view);
      }
      update(update: ViewUpdate) {
        this.decorations = matcher.updateDeco(update, this.decorations);
      }
    },
    {
      decorations: ({ decorations }) => decorations,
      provide: (plugin) =>
        EditorView.atomicRanges.of((view) => view.plugin(plugin)?.decorations ?? Decoration.none),
    },
  );
}

const setFault = StateEffect.define<number | undefined>();
const faultMark = Decoration.mark({ class: 'cm-fault' });

/** The place of an error, counted in characters from 1. */
const faults = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setFault)) continue;
      const text = transaction.newDoc.toString();
      if (effect.value === undefined || text === '') return Decoration.none;
      const before = [...text].slice(0, effect.value - 1).join('').length;
      const from = Math.min(before, text.length - 1);
      const word = /^[\p{L}\p{N}_.-]+/u.exec(text.slice(from))?.[0].length ?? 1;
      return Decoration.set([faultMark.range(from, Math.min(text.length, from + word))]);
    }
    return transaction.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const look = EditorView.theme({
  '&': { fontSize: 'var(--text-secondary)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    caretColor: 'var(--text)',
    padding: '6px 0',
  },
  '.cm-keyword': { color: 'var(--accent)' },
  '.cm-field': { color: 'var(--text)' },
  '.cm-text': { color: 'var(--ok)' },
  '.cm-name': { padding: '0 4px', borderRadius: 'var(--radius-chip)', backgroundColor: 'var(--sunken)' },
  '.cm-fault': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.cm-tooltip': {
    border: '1px solid var(--hairlineStrong)',
    borderRadius: 'var(--radius-control)',
    backgroundColor: 'var(--panel)',
    color: 'var(--text)',
    boxShadow: 'var(--mantine-shadow-md)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'inherit', maxHeight: '240px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--sunken)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--text2)', fontStyle: 'normal' },
});

const OPERATOR = /(=|!=|<=?|>=?|~|starts\s+with|\bin|not\s+in|between)$/i;

/** Fields at the begin of a condition, operators after a field, values after an operator. */
function complete(context: CompletionContext, fields: readonly FilterField[]): CompletionResult | null {
  const word = context.matchBefore(/"[^"]*|[\p{L}\p{N}_.-]*/u);
  const from = word?.from ?? context.pos;
  if (word?.text === '' && !context.explicit && !/[\s(,=]$/.test(context.state.sliceDoc(0, from)))
    return null;
  const before = context.state.sliceDoc(0, from).trimEnd();
  const condition =
    /([\p{L}\p{N}_."-]+)\s*(?:=|!=|<=?|>=?|~|starts\s+with|(?:not\s+)?in\s*\(.*?|between)$/isu.exec(
      before.replace(/(?:[\p{L}\p{N}_-]+|"[^"]*")\s*,/gu, ''),
    );
  const valued = condition && fields.find(({ path }) => path === condition[1]);
  if (valued && (OPERATOR.test(before) || /[(,]$/.test(before))) {
    const options =
      valued.kind === 'boolean'
        ? ['true', 'false'].map((value) => ({ value, label: value }))
        : valued.options;
    return {
      from,
      options: (options ?? []).map(({ value, label }) => ({
        label: /^[\p{L}\p{N}_-]+$/u.test(value) ? value : `"${value}"`,
        detail: label === value ? undefined : label,
      })),
    };
  }
  const last = /([\p{L}\p{N}_.]+)$/u.exec(before)?.[1];
  const named = last && fields.find(({ path }) => path === last);
  if (named)
    return {
      from,
      options: operatorsOf[named.kind].map((label) => ({
        label: label === 'in' || label === 'not in' ? `${label} (` : label,
      })),
    };
  if (before !== '' && !/(?:\(|\band|\bor|\bnot)$/i.test(before))
    return { from, options: ['and', 'or'].map((label) => ({ label })) };
  return {
    from,
    options: [...fields.map(({ path, label }) => ({ label: path, detail: label })), { label: 'not' }],
  };
}
