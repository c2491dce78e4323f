import { Select, Switch } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { ControlSelect } from '../../kit/ControlSelect.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import { isAllowed, useMe } from '../../shell/queries.ts';
import type { Book, FileTable } from './csv.ts';
import styles from './import.module.css';
import type { Kind } from './import.search.ts';
import type { ImportOptions } from './run.ts';
import type { Target } from './targets.ts';
import { readSheet } from './workbook.ts';

/** Values of a column that are shown. */
const EXAMPLES = 3;

type Options = Omit<ImportOptions, 'kind'>;

interface MappingProps {
  name: string;
  table: FileTable;
  kind: Kind;
  /** The type of all rows; undefined if the file names it. */
  type: string | undefined;
  targets: readonly Target[];
  columns: readonly (string | null)[];
  options: Options;
  /** Another sheet of the workbook is chosen. */
  onTable(table: FileTable): void;
  onType(type: string | undefined): void;
  onOptions(options: Options): void;
  onChoose(at: number, column: string | null): void;
}

/** What the columns of the file mean, and what rows do to what exists. */
export function MappingStep(props: MappingProps) {
  const { name, table, kind, type, targets, columns, options, onTable, onType, onOptions, onChoose } = props;
  const t = useTexts();
  const { types, label } = useMetamodel();
  const mayEdit = isAllowed(useMe().permissions, 'inventory.edit');
  const used = columns.filter((column) => column !== null).length;
  const set = (change: Partial<Options>) => onOptions({ ...options, ...change });
  return (
    <section className={styles.step}>
      <h2>
        {name}{' '}
        <span className="secondary">
          {t('import.rows', { count: table.rows.length })} ·{' '}
          {t('import.matched', { used, all: columns.length })}
        </span>
      </h2>
      <div className={styles.options}>
        {table.book && <Sheet book={table.book} kind={kind} onTable={onTable} />}
        {kind === 'cards' && (
          <ControlSelect
            label={t('import.type')}
            clearable
            placeholder={t('import.typeInFile')}
            width={220}
            value={type ?? null}
            data={types.filter((one) => !one.is_hidden).map((one) => ({ value: one.key, label: label(one) }))}
            onChange={(value) => onType(value ?? undefined)}
          />
        )}
        <ControlSelect
          label={t('import.mode')}
          width={220}
          value={options.mode}
          data={(mayEdit ? (['upsert', 'create'] as const) : (['create'] as const)).map((value) => ({
            value,
            label: t(`import.mode.${value}`),
          }))}
          onChange={(value) => set({ mode: value as Options['mode'] })}
        />
        <ControlSelect
          label={t('import.empty')}
          width={190}
          value={options.empty}
          data={(['leave', 'clear'] as const).map((value) => ({ value, label: t(`import.empty.${value}`) }))}
          onChange={(value) => set({ empty: value as Options['empty'] })}
        />
        <Switch
          size="xs"
          label={t('import.atomic')}
          checked={options.atomic}
          onChange={(event) => set({ atomic: event.target.checked })}
        />
      </div>
      <div className={styles.mapping}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('import.fileColumn')}</th>
              <th scope="col">{t('import.examples')}</th>
              <th scope="col">{t('import.becomes')}</th>
            </tr>
          </thead>
          <tbody>
            {table.header.map((header, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns of a file have no other identity than their place
              <tr key={at} data-unused={columns[at] === null}>
                <th scope="row">{header || t('import.unnamed', { number: at + 1 })}</th>
                <td className="secondary">
                  {[...new Set(table.rows.map((row) => row[at]?.trim() ?? '').filter(Boolean))]
                    .slice(0, EXAMPLES)
                    .join(' · ') || '–'}
                </td>
                <td>
                  <Select
                    aria-label={t('import.becomesOf', { column: header })}
                    size="xs"
                    searchable
                    clearable
                    placeholder={t('import.leftOut')}
                    value={columns[at] ?? null}
                    data={targets
                      .filter(({ column }) => column === columns[at] || !columns.includes(column))
                      .map(({ column, label: text }) => ({ value: column, label: text }))}
                    onChange={(value: string | null) => onChoose(at, value)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {used === 0 && <p className={styles.failure}>{t('import.nothingMatched')}</p>}
      {used > 0 &&
        kind === 'cards' &&
        type === undefined &&
        !columns.some((column) => column === 'type' || column === 'id' || column === 'number') && (
          <p className={styles.failure}>{t('import.needsType')}</p>
        )}
    </section>
  );
}

/** The choice of the sheet of a workbook, and what cannot be read of it. */
function Sheet({ book, kind, onTable }: { book: Book } & Pick<MappingProps, 'kind' | 'onTable'>) {
  const t = useTexts();
  const reasonOf = useReason();
  const { error, isPending, variables, mutate } = useMutation({
    mutationFn: (sheet: string) => readSheet(book.file, kind, sheet),
    onSuccess: onTable,
  });
  return (
    <>
      {book.sheets.length > 1 && (
        <ControlSelect
          label={t('import.sheet')}
          width={190}
          value={isPending ? variables : book.sheet}
          data={book.sheets.map((value) => ({ value, label: value }))}
          onChange={(value) => value && mutate(value)}
        />
      )}
      {error && (
        <p role="alert" className={styles.failure}>
          {reasonOf(error)}
        </p>
      )}
      {book.uncalculated > 0 && (
        <p className={styles.failure}>{t('import.uncalculated', { count: book.uncalculated })}</p>
      )}
    </>
  );
}
