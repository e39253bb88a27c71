package dev.tandemkv.benchmarks.scaling;

import java.util.List;

/**
 * A figure as the sum of two terms, each a number times a size: fitted by least squares of the relative errors on all measured points but the largest, which
 * says how far it can be trusted.
 *
 * @param first factor of the first size
 * @param second factor of the second size
 * @param error at the largest measured point, relative: 0.1 where the model says 10 % more than was measured
 */
record Model(double first, double second, double error) {

    /**
     * One measurement.
     *
     * @param x first size
     * @param y second size
     * @param value measured
     */
    record Point(double x, double y, double value) {}

    /**
     * @param points ordered by size, at least three
     * @throws IllegalArgumentException if there are fewer, or their sizes do not tell the terms apart
     */
    static Model fitted(List<Point> points) {
        if (points.size() < 3) {
            throw new IllegalArgumentException("points: " + points.size() + " (expected: >= 3)");
        }
        double xx = 0;
        double xy = 0;
        double yy = 0;
        double xv = 0;
        double yv = 0;
        for (Point p : points.subList(0, points.size() - 1)) {
            double x = p.x() / p.value();
            double y = p.y() / p.value();
            xx += x * x;
            xy += x * y;
            yy += y * y;
            xv += x;
            yv += y;
        }
        double determinant = xx * yy - xy * xy;
        if (Math.abs(determinant) <= 1e-12 * xx * yy) {
            throw new IllegalArgumentException("points: the two sizes grow alike (expected: they differ)");
        }
        double first = (xv * yy - yv * xy) / determinant;
        double second = (yv * xx - xv * xy) / determinant;
        Point largest = points.get(points.size() - 1);
        double error = (first * largest.x() + second * largest.y()) / largest.value() - 1;
        return new Model(first, second, error);
    }

    double at(double x, double y) {
        return first * x + second * y;
    }
}
