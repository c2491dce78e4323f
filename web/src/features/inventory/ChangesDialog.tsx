import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import { BulkDialog, usePreview } from './BulkDialog.tsx';
import { applyChanges, type Change } from './changes.ts';
import { EditedValue } from './EditedValue.tsx';
import styles from './inventory.module.css';

/** Cards whose values are listed. */
const LISTED = 100;

/** What changes of cells would do: how many cards change, which are refused, and why it cannot be said. */
export function useChanges(changes: readonly Change[]) {
  const byCard = Map.groupBy(changes, ({ card }) => card.id);
  const key = changes.map(({ card, column, value }) => [card.id, column, value]);
  const { data, reason } = usePreview(
    ['changes', key],
    changes.length > 0 ? () => applyChanges(changes, true) : undefined,
  );
  const refused = data?.refused ?? new Map<string, unknown>();
  return { byCard, data, reason, refused, allowed: changes.filter(({ card }) => !refused.has(card.id)) };
}

/** The old and the new value of each cell, by card. */
export function ChangedCells({ byCard, data, refused }: ReturnType<typeof useChanges>) {
  const t = useTexts();
  const reasonOf = useReason();
  return (
    <>
      {data && (
        <p className={styles.names}>
          {t('bulk.preview', { changed: data.changed, all: byCard.size, refused: refused.size })}
        </p>
      )}
      <div className={styles.compare}>
        <table>
          <tbody>
            {[...byCard].slice(0, LISTED).map(([id, own]) => (
              <tr key={id} data-refused={refused.has(id)}>
                <th scope="row">{own[0]!.card.name}</th>
                <td>
                  {own.map(({ column, edit, value }) => (
                    <div key={column} className={styles.change}>
                      <span className="secondary">{edit.field.label}</span>
                      <s>
                        <EditedValue edit={edit} value={edit.value} />
                      </s>
                      <span>
                        <EditedValue edit={edit} value={value} />
                      </span>
                    </div>
                  ))}
                  {refused.has(id) && <p className={styles.failure}>{reasonOf(refused.get(id))}</p>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {byCard.size > LISTED && <p className="secondary">{t('bulk.more', { count: byCard.size - LISTED })}</p>}
    </>
  );
}

interface ChangesDialogProps {
  title: string;
  changes: readonly Change[];
  /** What was left out, and why. */
  note?: string;
  onClose(): void;
  onDone(): void;
}

/** Cells that get another value, each with the old and the new one, before they are written. */
export function ChangesDialog({ title, changes, note, onClose, onDone }: ChangesDialogProps) {
  const t = useTexts();
  const preview = useChanges(changes);
  const { byCard, data, reason } = preview;
  return (
    <BulkDialog
      title={title}
      submit={t('bulk.apply', { count: data?.changed ?? byCard.size })}
      isReady={(data?.changed ?? 0) > 0}
      size="lg"
      run={async () => {
        const { changed, headers } = await applyChanges(preview.allowed, false);
        return { text: t('bulk.changed', { count: changed }), headers: headers ?? new Headers() };
      }}
      onClose={onClose}
      onDone={onDone}
    >
      {reason && <p className={styles.failure}>{reason}</p>}
      {note && <p className={styles.warning}>{note}</p>}
      <ChangedCells {...preview} />
    </BulkDialog>
  );
}
