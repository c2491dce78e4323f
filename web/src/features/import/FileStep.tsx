import { Button, FileButton, SegmentedControl } from '@mantine/core';
import { type DragEvent, useState } from 'react';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import { type FileTable, readCsv } from './csv.ts';
import styles from './import.module.css';
import type { Kind } from './import.search.ts';
import { isForEditing, isWorkbook, readFirstSheet } from './workbook.ts';

/** Larger files are imported by the API: the page shows and converts every cell. */
const MOST_BYTES = 20_000_000;

const textOf = (content: ArrayBuffer) => new TextDecoder('utf-8', { fatal: true }).decode(content);

interface FileStepProps {
  kinds: readonly Kind[];
  kind: Kind;
  onKind(kind: Kind): void;
  onFile(file: { name: string; table: FileTable }): void;
}

/** The choice of the kind of rows, and of the file. */
export function FileStep({ kinds, kind, onKind, onFile }: FileStepProps) {
  const t = useTexts();
  const { size } = useFormat();
  const reasonOf = useReason();
  const [failure, setFailure] = useState<string>();
  const [isOver, setOver] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const read = async (file: File | null | undefined) => {
    if (!file) return;
    if (file.size > MOST_BYTES) return setFailure(t('import.tooLarge', { size: size(MOST_BYTES) }));
    let table: FileTable;
    setBusy(true);
    try {
      table = isWorkbook(file) ? await readFirstSheet(file, kind) : readCsv(textOf(await file.arrayBuffer()));
    } catch (failed) {
      return setFailure(failed instanceof TypeError ? t('import.notText') : reasonOf(failed));
    } finally {
      setBusy(false);
    }
    const isEmpty = table.header.length === 0 || table.rows.length === 0;
    if (isEmpty && !(table.book && isForEditing(table.book))) return setFailure(t('import.noRows'));
    setFailure(undefined);
    onFile({ name: file.name, table });
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void read(event.dataTransfer.files[0]);
  };
  return (
    <>
      {kinds.length > 1 && (
        <SegmentedControl
          size="sm"
          className={styles.kinds!}
          aria-label={t('import.kind')}
          value={kind}
          data={kinds.map((value) => ({ value, label: t(`import.kind.${value}`) }))}
          onChange={(value) => onKind(value as Kind)}
        />
      )}
      <section
        className={styles.drop}
        data-over={isOver}
        aria-busy={isBusy}
        aria-label={t('import.file')}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <Icon name="upload_file" size={32} />
        <strong>{t('import.drop')}</strong>
        <span className="secondary">{t('import.dropHelp')}</span>
        <FileButton onChange={read} accept=".csv,.tsv,.txt,.xlsx,text/csv">
          {(props) => (
            <Button {...props} loading={isBusy}>
              {t('import.choose')}
            </Button>
          )}
        </FileButton>
        {failure && (
          <p role="alert" className={styles.failure}>
            {failure}
          </p>
        )}
      </section>
      <p className="secondary">{t(`import.help.${kind}`)}</p>
    </>
  );
}
