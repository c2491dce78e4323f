import { landscapeChart } from '../../../../reports/inventory/landscape/landscape.report.ts';
import { drawChart } from '../../../../reports/kernel/charts/charts.draw.ts';
import { seededMetamodel } from '../../../domain/inventory/cards/seeded-metamodel.ts';
import { readPicture } from './boxes.ts';

it('draws what is rolled up in the box below only', () => {
  const items = [{ id: '1', name: 'Shop' }];
  const chart = landscapeChart(
    [
      { id: 'a', name: 'Sales', parent_id: null, items: [...items, { id: '2', name: 'Till' }] },
      { id: 'b', name: 'Online', parent_id: 'a', items },
      { id: 'c', name: 'Whole', parent_id: null, items },
      { id: 'd', name: 'Part', parent_id: 'c', items },
    ],
    [],
    { type: 'Application', group_by: 'BusinessCapability', roll_up: true },
    { metamodel: seededMetamodel(), today: '2026-01-01' },
  );
  const svg = drawChart(chart, { currency: 'EUR', dateFormat: 'DD.MM.YYYY' });
  const written = readPicture(svg).texts.map(({ text }) => text);
  expect(written.filter((text) => text === 'Shop')).toHaveLength(2);
  expect(written).toContain('Till');
  expect(written.filter((text) => text.endsWith('(itself)'))).toEqual(['Sales (itself)']);
});
