import { rowsById } from '../../console/src/ui/paged';

describe('rows of pages that are read by their offset', () => {
  it('has a row once that a later page repeats, in its first place and as it was read last', () => {
    const rows = rowsById(({ id }: { id: string; text: string }) => id);
    const pages = [
      [
        { id: 'a', text: 'first' },
        { id: 'b', text: 'second' },
      ],
      [
        { id: 'b', text: 'second, later' },
        { id: 'c', text: 'third' },
      ],
    ];
    expect(rows({ pages, pageParams: [0, 2] })).toEqual([
      { id: 'a', text: 'first' },
      { id: 'b', text: 'second, later' },
      { id: 'c', text: 'third' },
    ]);
  });
});
