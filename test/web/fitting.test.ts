import { pictureOf } from '../../reports/kernel/charts/charts.draw.ts';
import { lookOf } from '../../reports/kernel/charts/charts.look.ts';
import { fitting } from '../../web/src/kit/fitting.ts';
import { samples } from '../reports/kernel/charts/samples.ts';

const HEIGHT = 420;

it.each([240, 540, 1_100])('every chart fits into a tile of %d px', (width) => {
  const look = { ...lookOf({ currency: 'EUR', dateFormat: 'DD.MM.YYYY' }, { width }), height: HEIGHT };
  for (const count of [1, 30, 300])
    for (const [name, chart] of Object.entries(samples(count))) {
      const { height } = pictureOf(fitting({ ...chart, title: '' }, look, HEIGHT), look);
      expect([name, count, height <= HEIGHT]).toEqual([name, count, true]);
    }
});
