import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call, type GenerateDiagramResponses, generateDiagram } from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { saveFile } from '../../kit/download.ts';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import type { ExplorerSearch } from './explorer.search.ts';

/** Cards of a diagram at most. */
const MOST = 500;

interface DiagramDialogProps {
  /** The card in the middle. */
  center: string;
  /** Its name. */
  name: string;
  search: ExplorerSearch;
  onClose(): void;
}

/** Makes a diagram that can be edited of the cards around one: kept in the workspace, or as a file of draw.io. */
export function DiagramDialog({ center, name: proposed, search, onClose }: DiagramDialogProps) {
  const t = useTexts();
  const { permissions } = useMe();
  const mayKeep = isAllowed(permissions, 'diagrams.manage');
  const [name, setName] = useState(proposed);
  const hidden = (search.hide ?? []).join(', ');
  const body = {
    view: 'dependencies' as const,
    card_id: center,
    depth: search.depth ?? 1,
    max_cards: MOST,
    ...(hidden && { filter: `type not in (${hidden})` }),
  };
  const keep = useSubmit(
    () => call(generateDiagram({ body: { ...body, save: { name } } })),
    () => {
      notifications.show({ message: t('diagram.kept', { name }) });
      onClose();
    },
  );
  const load = useSubmit(
    async () => (await call(generateDiagram({ body }))) as GenerateDiagramResponses[200],
    ({ xml }) => {
      saveFile(`${name}.drawio`, new Blob([xml], { type: 'application/vnd.jgraph.mxfile' }));
      onClose();
    },
  );
  const failure = keep.failure ?? load.failure;
  return (
    <Dialog title={t('diagram.title')} onClose={onClose}>
      <form onSubmit={mayKeep ? keep.submit : load.submit}>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t('diagram.help', { depth: body.depth })}
          </Text>
          <TextInput
            required
            data-autofocus
            label={t('save.name')}
            maxLength={200}
            value={name}
            error={keep.errorOf('save.name')}
            onChange={(event) => setName(event.target.value)}
          />
          {failure && <Text c="red">{failure}</Text>}
          <Group justify="flex-end">
            <Button variant="default" loading={load.isBusy} onClick={() => void load.submit()}>
              {t('diagram.download')}
            </Button>
            {mayKeep && (
              <Button type="submit" loading={keep.isBusy}>
                {t('diagram.keep')}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
