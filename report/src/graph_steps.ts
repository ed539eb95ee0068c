// Where the arrow keys lead in the graph: up and down along edges, into opened nodes and out of them; to the sides, to the
// nearest node. Shards are a grid.
import type { Scene } from "./graph_draw";

export function nextNode({ layout, refs, frames }: Scene, at: number, dx: number, dy: number): number | null {
  const { nodes, edges } = layout;
  const centre = (i: number): [number, number] => [nodes[i][2] + nodes[i][4] / 2, nodes[i][3] + nodes[i][5] / 2];
  const [x, y] = centre(at);
  const distance = (i: number): number => Math.hypot(centre(i)[0] - x, centre(i)[1] - y);
  const nearest = (candidates: number[]): number | null =>
    candidates.reduce<number | null>((best, i) => (best === null || distance(i) < distance(best) ? i : best), null);
  const siblings = nodes.flatMap((_, i) => (i !== at && refs[i].parent === refs[at].parent ? [i] : []));
  if (dx !== 0)
    return nearest(siblings.filter((i) => (centre(i)[0] - x) * dx > 0 && Math.abs(centre(i)[1] - y) < 60));
  if (nodes[at][0] === "shard") {
    const next = nearest(siblings.filter((i) => (centre(i)[1] - y) * dy > 0));
    if (next !== null) return next;
  }
  if (dy > 0 && frames.has(at)) {
    const first = refs.findIndex((ref) => ref.parent === at);
    if (first >= 0) return first;
  }
  // From the last of a frame to what is below the frame.
  for (let node: number | null = at; node !== null; node = refs[node].parent) {
    if (node !== at && dy < 0) return node;
    const next = nearest(edges.flatMap(([from, to]) => (dy > 0 ? (from === node ? [to] : []) : to === node ? [from] : [])));
    if (next !== null) return next;
  }
  return null;
}
