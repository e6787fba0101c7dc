import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Rows that are rendered above and below those in sight. */
const OVERSCAN = 6;

interface Props<Item> {
  items: readonly Item[];
  /** Key of an item, by which its measured height is kept. */
  keyOf: (item: Item, index: number) => string;
  /** Renders one row. */
  children: (item: Item, index: number) => ReactNode;
  /** Label of the list for screen readers. */
  label?: string;
  /** Height in pixels that a row is assumed to have until it is rendered. */
  estimate: number;
  /** Pixels between two rows. */
  gap?: number;
  /** Index of the selected row, which is always rendered, and scrolled into view when another one is selected. */
  selected?: number;
  className?: string;
  /** Class of each row. */
  rowClass?: string;
}

/** The element that scrolls an element. */
function scrollerOf(element: HTMLElement): HTMLElement {
  for (let each = element.parentElement; each; each = each.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(each).overflowY)) return each;
  }
  return document.documentElement;
}

/**
 * A list of any length with rows of any height, inside an element that scrolls. Only the rows in sight are rendered, and
 * measured as they are. `content-visibility` would leave out the layout of the others, but not the parsing of their Markdown,
 * which is most of the work of a long conversation. A row with the keyboard's focus stays rendered, and each row reports its
 * position among all, since a screen reader cannot count those that aren't rendered.
 */
export function VirtualList<Item>(props: Props<Item>) {
  const { items, keyOf, selected, rowClass } = props;
  const place = useRef<HTMLOListElement>(null);
  const [scroller, setScroller] = useState<HTMLElement>();
  /** Pixels between the start of what scrolls and the start of the list. */
  const [margin, setMargin] = useState(0);
  const [focused, setFocused] = useState<string>();
  const kept = [
    selected ?? -1,
    focused === undefined ? -1 : items.findIndex((item, at) => keyOf(item, at) === focused),
  ];
  const virtual = useVirtualizer<HTMLElement, HTMLLIElement>({
    count: items.length,
    getScrollElement: () => scroller ?? null,
    getItemKey: (index) => keyOf(items[index], index),
    estimateSize: () => props.estimate,
    gap: props.gap ?? 0,
    overscan: OVERSCAN,
    scrollMargin: margin,
    rangeExtractor: (range) =>
      [
        ...new Set([...defaultRangeExtractor(range), ...kept.filter((index) => index >= 0 && index < range.count)]),
      ].sort((a, b) => a - b),
  });

  useLayoutEffect(() => setScroller(scrollerOf(place.current!)), []);
  const measureMargin = (): void => {
    if (!scroller || !place.current) return;
    const top = place.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    setMargin(Math.round(top - scroller.clientTop + scroller.scrollTop));
  };
  useLayoutEffect(measureMargin);
  useEffect(() => {
    if (!scroller) return;
    // What is above the list may change its height without rendering the list.
    const observer = new ResizeObserver(measureMargin);
    for (const child of scroller.children) observer.observe(child);
    return () => observer.disconnect();
  }, [scroller]);

  const selectedKey = selected === undefined || !items[selected] ? undefined : keyOf(items[selected], selected);
  useEffect(() => {
    if (scroller && selectedKey !== undefined) virtual.scrollToIndex(selected!);
    // The index of the same row changes with each row above it, which is no reason to scroll.
  }, [scroller, selectedKey]);

  return (
    <ol
      ref={place}
      aria-label={props.label}
      className={`relative ${props.className ?? ''}`}
      style={{ height: virtual.getTotalSize() }}
      onFocus={({ target }) => {
        const index = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index);
        if (items[index]) setFocused(keyOf(items[index], index));
      }}
    >
      {virtual.getVirtualItems().map(({ index, key, start }) => (
        <li
          key={key}
          ref={virtual.measureElement}
          data-index={index}
          aria-posinset={index + 1}
          aria-setsize={items.length}
          className={`absolute inset-x-0 ${rowClass ?? ''}`}
          style={{ transform: `translateY(${start - margin}px)` }}
        >
          {props.children(items[index], index)}
        </li>
      ))}
    </ol>
  );
}
