import { SegmentedControl } from '@mantine/core';
import type { Job } from '#client';
import { useTexts } from '../../kit/messages.tsx';
import type { Book, FileTable } from './csv.ts';
import styles from './import.module.css';
import type { Kind } from './import.search.ts';
import { SheetChoice } from './MappingStep.tsx';
import { OptionFields, type Options } from './OptionFields.tsx';
import { PreviewStep } from './PreviewStep.tsx';
import { runImport } from './run.ts';
import type { Target } from './targets.ts';
import { isForEditing, readsAllSheets } from './workbook.ts';

interface WorkbookProps {
  book: Book;
  kinds: readonly Kind[];
  targets: readonly Target[];
  kind: Kind;
  options: Options;
  /** Whether the sheets of the kind are imported. */
  isDone: boolean;
  onKind(kind: Kind): void;
  onOptions(options: Options): void;
  /** One sheet is chosen. */
  onTable(table: FileTable): void;
  onDone(job: Job): void;
}

/** All sheets of a workbook with cards, or with relations: the service finds columns and types by their names. */
export function WorkbookStep(props: WorkbookProps) {
  const { book, kinds, targets, kind, isDone, onKind, onOptions, onTable, onDone } = props;
  const t = useTexts();
  const options = { kind, ...props.options };
  const isExport = isForEditing(book);
  return (
    <>
      <section className={styles.step}>
        <h2>
          {book.file.name}{' '}
          <span className="secondary">{t(isExport ? 'import.workbook' : 'import.allSheetsHelp')}</span>
        </h2>
        <div className={styles.options}>
          <SegmentedControl
            size="sm"
            aria-label={t('import.workbookKinds')}
            value={kind}
            data={kinds.filter(readsAllSheets).map((value) => ({ value, label: t(`import.kind.${value}`) }))}
            onChange={(value) => onKind(value as Kind)}
          />
          {!isDone && (
            <>
              {!isExport && <SheetChoice book={book} kind={kind} isWhole onTable={onTable} />}
              <OptionFields kind={kind} options={props.options} onOptions={onOptions} />
            </>
          )}
        </div>
      </section>
      {!isDone && (
        <PreviewStep
          key={kind}
          {...{ header: [], rows: [], lines: [], shown: undefined }}
          text={book.file}
          options={options}
          targets={targets}
          run={(onProgress) => runImport(book.file, options, false, onProgress)}
          onDone={onDone}
        />
      )}
    </>
  );
}
