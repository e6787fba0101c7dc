import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback } from 'react';

interface Page<Item> {
  items: Item[];
  total: number;
}

interface Paged<Item> {
  data: Item[] | undefined;
  total: number | undefined;
  error: unknown;
  refetch: () => void;
  /** Requests the next page, if there is one and none is being read. */
  more: () => void;
}

interface NextPage {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/**
 * Returns a function that requests the next page of a query, if there is one and none is being read. After a failure it requests
 * none until the query has been read again: its caller is in sight, and would repeat the request without a pause.
 */
export function useMore({
  hasNextPage,
  isFetchingNextPage,
  isFetchNextPageError,
  fetchNextPage,
}: NextPage): () => void {
  return useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
}

/** The rows of all pages, for `select` of a query: it is called when the pages change, not when a view is drawn. */
export const rowsOf = <Row>({ pages }: InfiniteData<Row[]>): Row[] => pages.flat();

/**
 * The rows of all pages, each once: of pages that are read by their offset, a later one has the last rows of the one before
 * again when rows have been put above them.
 */
export const rowsById =
  <Row>(idOf: (row: Row) => string) =>
  ({ pages }: InfiniteData<Row[]>): Row[] => [...new Map(pages.flat().map((row) => [idOf(row), row])).values()];

interface PagedQuery {
  state: { data?: { pages: unknown[] } | undefined };
}

/** Interval in milliseconds for `refetchInterval` of a query, until it has a second page: a long list is not read again as a whole. */
export const whileOnePage =
  (ms: number | undefined) =>
  ({ state: { data } }: PagedQuery): number | false =>
    ms !== undefined && (data?.pages.length ?? 0) <= 1 ? ms : false;

const itemsOf = <Item>({ pages }: InfiniteData<Page<Item>>): { rows: Item[]; total: number | undefined } => ({
  rows: pages.flatMap(({ items }) => items),
  total: pages.at(-1)?.total,
});

/**
 * A list that is read page by page as it is scrolled. `read` gets the offset of the page. The first page is read again every
 * `refetchMs`, until there is a second one.
 */
export function usePaged<Item>(
  queryKey: unknown[],
  read: (offset: number) => Promise<Page<Item>>,
  { refetchMs }: { refetchMs?: number } = {},
): Paged<Item> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const loaded = pages.reduce((sum, { items }) => sum + items.length, 0);
      return last.items.length > 0 && loaded < last.total ? loaded : undefined;
    },
    placeholderData: keepPreviousData,
    select: itemsOf<Item>,
    refetchInterval: whileOnePage(refetchMs),
  });
  return {
    data: query.data?.rows,
    total: query.data?.total,
    error: query.error,
    refetch: () => void query.refetch(),
    more: useMore(query),
  };
}
