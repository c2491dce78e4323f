import { SegmentedControl } from '@mantine/core';
import type { Job } from '#client';
import { useTexts } from '../../kit/messages.tsx';
import styles from './import.module.css';
import type { Kind } from './import.search.ts';
import { PreviewStep } from './PreviewStep.tsx';
import { type ImportOptions, runImport } from './run.ts';
import type { Target } from './targets.ts';

interface WorkbookProps {
  file: File;
  kinds: readonly Kind[];
  targets: readonly Target[];
  options: ImportOptions;
  /** Whether the sheets of the kind are imported. */
  isDone: boolean;
  onKind(kind: Kind): void;
  onDone(job: Job): void;
}

/** A workbook that was exported to be edited: all its sheets of cards, or of relations, with columns that need no matching. */
export function WorkbookStep({ file, kinds, targets, options, isDone, onKind, onDone }: WorkbookProps) {
  const t = useTexts();
  const { kind } = options;
  return (
    <>
      <section className={styles.step}>
        <h2>
          {file.name} <span className="secondary">{t('import.workbook')}</span>
        </h2>
        <SegmentedControl
          size="sm"
          className={styles.kinds!}
          aria-label={t('import.workbookKinds')}
          value={kind}
          data={kinds
            .filter((one) => one === 'cards' || one === 'relations')
            .map((value) => ({ value, label: t(`import.kind.${value}`) }))}
          onChange={(value) => onKind(value as Kind)}
        />
      </section>
      {!isDone && (
        <PreviewStep
          key={kind}
          {...{ header: [], rows: [], lines: [], shown: undefined }}
          text={file}
          options={options}
          targets={targets}
          run={(onProgress) => runImport(file, options, false, onProgress)}
          onDone={onDone}
        />
      )}
    </>
  );
}
