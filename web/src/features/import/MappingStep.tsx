import { SegmentedControl, Select } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { ControlSelect } from '../../kit/ControlSelect.tsx';
import { useLanguage, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import type { Book, FileTable } from './csv.ts';
import styles from './import.module.css';
import type { Kind } from './import.search.ts';
import { OptionFields, type Options } from './OptionFields.tsx';
import type { Target } from './targets.ts';
import type { Meaning } from './values.ts';
import { readSheet, readsAllSheets } from './workbook.ts';

/** Values of a column that are shown. */
const EXAMPLES = 3;

interface MappingProps {
  name: string;
  table: FileTable;
  kind: Kind;
  /** The type of all rows; undefined if the file names it. */
  type: string | undefined;
  targets: readonly Target[];
  columns: readonly (string | null)[];
  options: Options;
  /** Columns with texts such as `1.234`, and what these mean. */
  asked: readonly number[];
  meanings: ReadonlyMap<number, Meaning>;
  onMeaning(at: number, meaning: Meaning): void;
  /** Another sheet of the workbook is chosen. */
  onTable(table: FileTable): void;
  /** All sheets of the workbook are chosen. */
  onWhole(): void;
  onType(type: string | undefined): void;
  onOptions(options: Options): void;
  onChoose(at: number, column: string | null): void;
}

/** What the columns of the file mean, and what rows do to what exists. */
export function MappingStep(props: MappingProps) {
  const { name, table, kind, type, targets, columns, options, onType, onOptions, onChoose } = props;
  const t = useTexts();
  const { types, label } = useMetamodel();
  const used = columns.filter((column) => column !== null).length;
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
        {table.book && (
          <SheetChoice
            book={table.book}
            kind={kind}
            isWhole={false}
            onTable={props.onTable}
            onWhole={props.onWhole}
          />
        )}
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
        <OptionFields kind={kind} options={options} onOptions={onOptions} />
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
      {props.asked.map((at) => (
        <Asked key={at} at={at} {...props} />
      ))}
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

/** Asks what texts of a column such as `1.234` mean. */
function Asked({ at, table, meanings, onMeaning }: { at: number } & MappingProps) {
  const { t, language } = useLanguage();
  const row = table.book!.ambiguous.findIndex((columns) => columns.includes(at));
  const example = table.rows[row]![at]!.trim();
  const decimals = new Intl.NumberFormat(language, { minimumFractionDigits: 3 });
  const digits = (mark: string) => Number(example.replace(/[.,]/, mark));
  const question = t('import.ambiguous', { column: table.header[at]!, example: `“${example}”` });
  return (
    <p className={styles.asked}>
      <span>{question}</span>
      <SegmentedControl
        size="xs"
        aria-label={question}
        value={meanings.get(at) ?? ''}
        data={[
          { value: 'thousands', label: String(digits('')) },
          { value: 'decimals', label: decimals.format(digits('.')) },
        ]}
        onChange={(value) => onMeaning(at, value as Meaning)}
      />
    </p>
  );
}

/** No sheet can have this name. */
const ALL = '*';

interface SheetProps extends Pick<MappingProps, 'kind' | 'onTable'>, Partial<Pick<MappingProps, 'onWhole'>> {
  book: Book;
  /** Whether all sheets are chosen. */
  isWhole: boolean;
}

/** The choice of the sheet of a workbook, and what cannot be read of it. */
export function SheetChoice({ book, kind, isWhole, onTable, onWhole }: SheetProps) {
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
          value={isPending ? variables : isWhole ? ALL : book.sheet}
          data={[
            ...(readsAllSheets(kind) ? [{ value: ALL, label: t('import.allSheets') }] : []),
            ...book.sheets.map((value) => ({ value, label: value })),
          ]}
          onChange={(value) => (value === ALL ? onWhole?.() : value && mutate(value))}
        />
      )}
      {error && (
        <p role="alert" className={styles.failure}>
          {reasonOf(error)}
        </p>
      )}
      {book.uncalculated > 0 && !isWhole && (
        <p className={styles.failure}>{t('import.uncalculated', { count: book.uncalculated })}</p>
      )}
    </>
  );
}
