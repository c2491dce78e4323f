import { answer, patchRelation } from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { Costs } from './CostsPanel.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { InlineField } from './InlineField.tsx';
import type { RelatedItem, RelationGroup } from './relations.ts';

interface RelationDialogProps {
  group: RelationGroup;
  item: RelatedItem;
  onClose(): void;
}

/** What a relation says: its attributes and its description. */
export function RelationDialog({ group, item, onClose }: RelationDialogProps) {
  const t = useTexts();
  const { card, can, act } = useCard();
  const { label, verb } = useMetamodel();
  const fields = group.type.attributes_schema as unknown as Field[];
  const description: Field = { key: 'description', type: 'multiline_text', label: t('field.description') };
  const save = (field: Field, body: Parameters<typeof patchRelation>[0]['body']) =>
    act(
      t('card.changed', { field: label(field) }),
      async () => (await answer(patchRelation({ path: { id: item.relation_id }, body }))).headers,
    );
  return (
    <Dialog
      title={`${card.name} ${verb(group.type, group.direction)} ${item.card.name}`}
      size="lg"
      onClose={onClose}
    >
      <div className={styles.fields}>
        {fields
          .filter(({ type }) => type !== 'cost' || can('view_costs'))
          .map((field) => (
            <InlineField
              key={field.key}
              field={field}
              value={item.attributes[field.key]}
              isEditable={can('manage_relations')}
              onSave={(value) => save(field, { attributes: { [field.key]: value } })}
            />
          ))}
        <InlineField
          field={description}
          value={item.description}
          isEditable={can('manage_relations')}
          onSave={(value) => save(description, { description: value as string | null })}
        />
      </div>
      {can('view_costs') && (
        <div className={styles.below}>
          <Costs relationId={item.relation_id} />
        </div>
      )}
    </Dialog>
  );
}
