import { Button } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Job } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { useLanguage, useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { type FileTable, writeCsv } from './csv.ts';
import { FileStep } from './FileStep.tsx';
import styles from './import.module.css';
import { type Kind, kinds } from './import.search.ts';
import { MappingStep } from './MappingStep.tsx';
import type { Options } from './OptionFields.tsx';
import { PreviewStep } from './PreviewStep.tsx';
import { ResultStep } from './ResultStep.tsx';
import { runImport } from './run.ts';
import { matching, type Target, useTargets, useTypeOfSheet } from './targets.ts';
import { cellOf, type Fix, type Meaning } from './values.ts';
import { WorkbookStep } from './WorkbookStep.tsx';
import { isForEditing, readsAllSheets } from './workbook.ts';

/** The kinds of rows that the person may import. */
function useKinds(): Kind[] {
  const { permissions } = useMe();
  const may = (permission: string) => isAllowed(permissions, permission);
  const rights: Record<Kind, boolean> = {
    cards: may('inventory.create'),
    relations: may('relations.manage'),
    costs: may('costs.view') && may('inventory.edit'),
    data_flows: may('relations.manage'),
  };
  return kinds.filter((kind) => rights[kind]);
}

/** A file becomes cards, relations, costs or data flows: its columns are matched, every change is shown, then written. */
export function ImportPage() {
  const t = useTexts();
  const allowed = useKinds();
  const navigate = useNavigate({ from: '/import' });
  const { kind = allowed[0] ?? 'cards', type: given } = useSearch({ from: '/app/import' });
  const mayEdit = isAllowed(useMe().permissions, 'inventory.edit');
  const [file, setFile] = useState<{ name: string; table: FileTable }>();
  const [options, setOptions] = useState<Options>({
    mode: mayEdit ? 'upsert' : 'create',
    empty: 'leave',
    atomic: false,
  });
  const [chosen, setChosen] = useState<ReadonlyMap<number, string | null>>(new Map());
  const [fixes, setFixes] = useState<readonly Fix[]>([]);
  const [meanings, setMeanings] = useState<ReadonlyMap<number, Meaning>>(new Map());
  const [isWhole, setWhole] = useState<boolean>();
  const [done, setDone] = useState<Job>();
  const { type, targets, columns } = useColumns(file?.table, kind, given, chosen);
  const asked = ambiguousColumns(file?.table, columns, targets);
  const isAsking = asked.some((at) => !meanings.has(at));
  const wanted = { columns, targets, kind, type, fixes, meanings };
  const written = useWritten(isAsking ? undefined : file?.table, wanted);
  const named = useTypeOfSheet(file?.table.book?.sheets).filter((one) => one !== undefined).length;
  const isOfTypes = isWhole ?? (kind === 'cards' && named > 1);
  const whole = file?.table.book && (isForEditing(file.table.book) || (isOfTypes && readsAllSheets(kind)));
  const book = whole ? file.table.book : undefined;
  const go = (search: { kind?: Kind; type?: string }) => {
    void navigate({ search, replace: true });
    setChosen(new Map());
    setMeanings(new Map());
    setFixes([]);
  };
  const open = (next: typeof file) => {
    setFile(next);
    setDone(undefined);
    setFixes([]);
    setChosen(new Map());
    setMeanings(new Map());
  };
  const openSheet = (table: FileTable) => {
    open({ name: file!.name, table });
    setWhole(false);
  };
  return (
    <Page
      title={<h1>{t('import.title')}</h1>}
      actions={
        file && (
          <AnotherFile
            onClick={() => {
              open(undefined);
              setWhole(undefined);
            }}
          />
        )
      }
    >
      <div className={styles.page}>
        {allowed.length === 0 && <p className="secondary">{t('import.notAllowed')}</p>}
        {!file && allowed.length > 0 && (
          <FileStep kinds={allowed} kind={kind} onKind={(next) => go({ kind: next })} onFile={open} />
        )}
        {book && (
          <WorkbookStep
            book={book}
            kinds={allowed}
            targets={targets}
            kind={kind}
            options={options}
            onOptions={setOptions}
            onTable={openSheet}
            isDone={done !== undefined}
            onKind={(next) => {
              go({ kind: next });
              setDone(undefined);
            }}
            onDone={setDone}
          />
        )}
        {file && done && <ResultStep job={done} kind={kind} type={type} />}
        {file && !book && !done && (
          <>
            <MappingStep
              name={file.name}
              table={file.table}
              kind={kind}
              type={type}
              targets={targets}
              columns={columns}
              options={options}
              meanings={meanings}
              asked={asked}
              onMeaning={(at, meaning) => setMeanings(new Map(meanings).set(at, meaning))}
              onTable={openSheet}
              onWhole={() => setWhole(true)}
              onType={(next) => go({ kind, ...(next && { type: next }) })}
              onOptions={setOptions}
              onChoose={(at, column) => setChosen(new Map(chosen).set(at, column))}
            />
            {written && (
              <PreviewStep
                {...written}
                options={{ kind, ...options }}
                targets={targets}
                onFix={(fix) => setFixes([...fixes, fix])}
                run={(onProgress) => runImport(written.text, { kind, ...options }, false, onProgress)}
                onDone={setDone}
              />
            )}
          </>
        )}
      </div>
    </Page>
  );
}

function AnotherFile({ onClick }: { onClick: () => void }) {
  return (
    <Button variant="default" leftSection={<Icon name="upload_file" />} onClick={onClick}>
      {useTexts()('import.another')}
    </Button>
  );
}

/** The column that each column of the file means; null is left out. A choice wins over the name, and the first of two. */
function columnsOf(
  table: FileTable | undefined,
  targets: readonly Target[],
  chosen: ReadonlyMap<number, string | null>,
): (string | null)[] {
  const taken = new Set([...chosen.values()]);
  return (table?.header ?? []).map((name, at) => {
    const own = chosen.get(at);
    if (own !== undefined) return own;
    const values = table!.rows.map((row) => row[at] ?? '');
    const found = matching(name, targets, values).find((column) => !taken.has(column));
    if (found === undefined) return null;
    taken.add(found);
    return found;
  });
}

/** The columns of a file of cards of a type: the one that is chosen, or that the sheet is named after if no column names types. */
function useColumns(
  table: FileTable | undefined,
  kind: Kind,
  given: string | undefined,
  chosen: ReadonlyMap<number, string | null>,
) {
  const [ofSheet] = useTypeOfSheet(table?.book && [table.book.sheet]);
  const all = useTargets(kind, undefined);
  const isTyped = table?.header.some((name) => matching(name, all, []).includes('type'));
  const type = given ?? (kind === 'cards' && !isTyped ? ofSheet : undefined);
  const targets = useTargets(kind, type);
  const columns = useMemo(() => columnsOf(table, targets, chosen), [table, targets, chosen]);
  return { type, targets, columns };
}

/** Whether a column has numbers. */
const isNumeric = ({ column, field }: Target) =>
  column === 'amount' || field?.type === 'number' || field?.type === 'cost';

/** The columns of numbers in which a workbook has texts such as `1.234`. */
function ambiguousColumns(
  table: FileTable | undefined,
  columns: readonly (string | null)[],
  targets: readonly Target[],
): number[] {
  const found = new Set(table?.book?.ambiguous.flat());
  return [...found].filter((at) => targets.some((one) => one.column === columns[at] && isNumeric(one)));
}

/** What identifies the type of a row. */
const typed = new Set(['type', 'id', 'number']);

interface Columns {
  columns: readonly (string | null)[];
  targets: readonly Target[];
  kind: Kind;
  type: string | undefined;
  fixes: readonly Fix[];
  /** Of columns with texts such as `1.234`. */
  meanings: ReadonlyMap<number, Meaning>;
}

/** The file as imports read it: its matched columns; undefined while something is missing. */
function useWritten(
  table: FileTable | undefined,
  { columns, targets, kind, type, fixes, meanings }: Columns,
) {
  const { language } = useLanguage();
  return useMemo(() => {
    if (!table) return undefined;
    const used = columns.flatMap((column, at) => {
      const target = targets.find((one) => one.column === column);
      return target ? [{ target, at }] : [];
    });
    const hasType = used.some(({ target }) => typed.has(target.column));
    if (used.length === 0 || (kind === 'cards' && !hasType && type === undefined)) return undefined;
    const constant = kind === 'cards' && !hasType ? [type!] : [];
    const fixed = new Map(fixes.map(({ column, from, to }) => [`${column} ${from}`, to]));
    const rows = table.rows.map((row, n) => [
      ...constant,
      ...used.map(({ target, at }) => {
        const isWritten = table.header[at] === target.column;
        const meaning = table.book?.ambiguous[n]?.includes(at) ? meanings.get(at) : undefined;
        const text = cellOf(row[at] ?? '', target, language, table.book !== undefined, isWritten, meaning);
        return fixed.get(`${target.column} ${text}`) ?? text;
      }),
    ]);
    const header = [...(constant.length > 0 ? ['type'] : []), ...used.map(({ target }) => target.column)];
    const { text, lines } = writeCsv(header, rows);
    return { header, rows, text, lines, shown: table.book?.lines };
  }, [table, columns, targets, kind, type, fixes, meanings, language]);
}
